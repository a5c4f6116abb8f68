// SPDX-License-Identifier: MIT
//
// Strands and loops under real threads: on pools of 1 to 16 threads each producer's tasks run in
// its order, never two at once, and no thread is held while a strand is empty; ends and closes at
// any moment.
#include <poll.h>

#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

constexpr std::size_t kProducers = 4;

// What only the tasks of one executor touch. Plain: TSan sees two at once, and so does `inside`.
struct Record {
  std::size_t last[kProducers] = {};
  std::size_t ran = 0;
  std::size_t wrong = 0;
  bool inside = false;

  void add(std::size_t producer, std::size_t number) {
    if (std::exchange(inside, true)) ++wrong;
    if (std::exchange(last[producer], number) + 1 != number) ++wrong;
    ++ran;
    inside = false;
  }
};

template <class Executor>
void produce(Executor& executor, Record& record, std::size_t count) {
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < kProducers; ++p) {
    threads.emplace_back([&, p] {
      for (std::size_t i = 1; i <= count / kProducers; ++i) {
        executor.post([&record, p, i] { record.add(p, i); });
      }
    });
  }
}

class StrandOnPool : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Widths, StrandOnPool, testing::Values(1U, 2U, 4U, 8U, 16U));

TEST_P(StrandOnPool, InOrderAndNeverTwoAtOnce) {
  const std::size_t width = GetParam();
  ThreadPool pool({.width = width});
  Record record;
  const std::size_t count = test::deep() ? 10'000'000 : 100'000;
  {
    SerialExecutor strand(pool);
    produce(strand, record, count);
    const Tally tally = strand.close();
    EXPECT_EQ(tally.done, count);
  }
  EXPECT_EQ(record.ran, count);
  EXPECT_EQ(record.wrong, 0U);
}

// All threads of the pool meet while as many strands are there, which have run and are empty.
TEST_P(StrandOnPool, AnEmptyOneHoldsNoThread) {
  const std::size_t width = GetParam();
  ThreadPool pool({.width = width});
  std::vector<std::unique_ptr<SerialExecutor<ThreadPool>>> strands;
  for (std::size_t i = 0; i < 2 * width; ++i) {
    strands.push_back(std::make_unique<SerialExecutor<ThreadPool>>(pool));
    strands.back()->post([] {});
  }
  for (const auto& strand : strands) (void)strand->wait();
  std::atomic<std::size_t> met{0};
  for (std::size_t i = 0; i < width; ++i) {
    pool.post([&] {
      ++met;
      while (met < width) std::this_thread::yield();
    });
  }
  pool.wait();
  EXPECT_EQ(met, width);
}

TEST(StrandStress, ManyStrandsShareAPool) {
  ThreadPool pool({.mode = PoolMode::fixed, .width = 3});
  constexpr std::size_t kStrands = 8;
  const std::size_t count = test::rounds(4000) + kProducers - test::rounds(4000) % kProducers;
  std::vector<Record> records(kStrands);
  {
    std::vector<std::unique_ptr<SerialExecutor<ThreadPool>>> strands;
    for (std::size_t s = 0; s < kStrands; ++s) {
      strands.push_back(std::make_unique<SerialExecutor<ThreadPool>>(pool));
    }
    std::vector<std::jthread> threads;
    for (std::size_t p = 0; p < kProducers; ++p) {
      threads.emplace_back([&, p] {
        for (std::size_t i = 1; i <= count / kProducers; ++i) {
          for (std::size_t s = 0; s < kStrands; ++s) {
            strands[s]->post([&record = records[s], p, i] { record.add(p, i); });
          }
        }
      });
    }
  }
  for (const Record& record : records) {
    EXPECT_EQ(record.ran, count);
    EXPECT_EQ(record.wrong, 0U);
  }
}

// A strand lives for a few tasks, and its memory goes at once: on a pool with hardly any room.
TEST(StrandStress, ShortLives) {
  ThreadPool pool({.width = 2, .capacity = 1});
  for (std::size_t round = 0; round < test::rounds(3000); ++round) {
    std::size_t ran = 0;
    std::atomic<std::size_t> accepted{0};
    auto strand = std::make_unique<SerialExecutor<ThreadPool>>(pool);
    const auto offer = [&] {
      for (int i = 0; i < 3; ++i) {
        if (strand->try_post([&ran] { ++ran; }) == Status::ok) ++accepted;
      }
    };
    std::thread other(offer);
    offer();
    if (round % 2 == 0) {
      (void)strand->close(round % 4 == 0 ? Closing::finish : Closing::abandon);
    }
    other.join();
    const Tally tally = strand->close();
    strand.reset();
    ASSERT_TRUE(tally.balanced());
    ASSERT_EQ(tally.accepted, accepted);
    ASSERT_EQ(tally.done, ran);
    ASSERT_EQ(tally.pending, 0U);
  }
}

// The owner sleeps in poll(), as another library's loop does.
TEST(LoopStress, PostsWakeTheOwner) {
  LoopExecutor loop;
  Record record;
  const std::size_t count = test::rounds(40'000) / kProducers * kProducers;
  const int descriptor = loop.descriptor();
  std::thread owner([&] {
    while (record.ran < count) {
      pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
      if (::poll(&one, 1, -1) == 1)
        (void)(record.ran % 2 == 0 ? loop.drain() : loop.drain_for(5us));
    }
  });
  produce(loop, record, count);
  owner.join();
  EXPECT_EQ(record.ran, count);
  EXPECT_EQ(record.wrong, 0U);
  EXPECT_EQ(loop.close().done, count);
}

// The same by wait(), with ends of all kinds.
TEST(LoopStress, ShutsAndWaits) {
  for (std::size_t round = 0; round < test::rounds(1000); ++round) {
    LoopExecutor loop;
    std::size_t ran = 0;
    std::atomic<std::size_t> accepted{0};
    std::thread producer([&] {
      for (int i = 0; i < 4; ++i) {
        if (loop.try_post([&ran] { ++ran; }) == Status::ok) ++accepted;
        if (i == 2 && round % 2 == 0) loop.shut();
      }
      loop.shut();
    });
    while (loop.wait() == Status::ok) (void)loop.drain();
    producer.join();
    ASSERT_EQ(ran, accepted) << "round " << round;
  }
}

}  // namespace
