// SPDX-License-Identifier: MIT
//
// blocking(): a worker that blocks is replaced meanwhile, and the width is what it was afterwards.
#include <errno.h>

#include <handoff/pool/blocking.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "support/failing.hpp"
#include "support/support.hpp"
#include "support/test.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Call;
using test::Gate;
using test::threads_of_process;

class BlockingTest : public test::ModeTest {};
HANDOFF_EACH_MODE(BlockingTest);

void until_threads_are_at_most(std::size_t count) {
  while (threads_of_process().size() > count) std::this_thread::sleep_for(1ms);
}

// Hangs if nobody stands in.
TEST_P(BlockingTest, WhoBlocksIsReplaced) {
  ThreadPool pool(options(1));
  for (std::size_t round = 0; round < test::rounds(50); ++round) {
    Gate gate;
    auto held = pool.submit([&] { blocking([&] { gate.wait(); }); });
    auto other = pool.submit([&] {
      EXPECT_LT(pool.worker_index().value(), pool.index_count());
      int parts = 0;
      TaskGroup group(pool);  // a stand-in is a worker like others
      group.run([&parts] { ++parts; });
      group.wait();
      EXPECT_EQ(parts, 1);
      gate.open();
    });
    held.get();
    other.get();
  }
  EXPECT_GE(pool.statistics().lent, test::rounds(50));
}

TEST_P(BlockingTest, AfterwardsTheWidthIsWhatItWas) {
  auto given = options(2);
  given.core = 2;
  const std::size_t before = threads_of_process().size();
  ThreadPool pool(given);
  for (std::size_t round = 0; round < test::rounds(2); ++round) {
    std::atomic<int> inside{0};
    std::vector<Future<void>> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(pool.submit([&] {
        blocking([&] {
          ++inside;
          while (inside < 5) std::this_thread::yield();
        });
      }));
    }
    for (auto& one : all) one.get();
    until_threads_are_at_most(before + 2);
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    for (int i = 0; i < 50; ++i) {
      pool.post([&] {
        const int now = ++running;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --running;
      });
    }
    while (pool.wait(1h) != Status::ok) {  // does not help
    }
    EXPECT_LE(most, 2);
  }
}

TEST_P(BlockingTest, PassesOnWhatTheFunctionDoes) {
  Gate gate;
  ThreadPool pool(options(1));
  int target = 0;
  EXPECT_EQ(&blocking([&]() -> int& { return target; }), &target) << "no task at all";
  EXPECT_EQ(pool.submit([] { return blocking([] { return 4; }); }).get(), 4);
  EXPECT_THROW(pool.submit([] { blocking([] { throw std::runtime_error("planned"); }); }).get(),
               std::runtime_error);
  auto nested = pool.submit([&] { blocking([&] { blocking([&] { gate.wait(); }); }); });
  pool.submit([&] { gate.open(); }).get();
  nested.get();
  TaskGroup group(pool);  // here a guest runs it, which is no worker to replace
  group.run([] { blocking([] {}); });
  EXPECT_EQ(group.wait(Until()), Status::ok);
}

TEST_P(BlockingTest, WithoutAThreadItBlocksAllTheSame) {
  Gate begun;
  Gate gate;
  ThreadPool pool(options(1));
  auto held = pool.submit([&] {
    begun.wait();
    test::fail_after(Call::thread, 0, EAGAIN);
    blocking([&] { gate.wait(); });
  });
  std::atomic<bool> ran{false};
  pool.post([&] { ran = true; });
  begun.open();
  while (pool.statistics().lent == 0) std::this_thread::yield();
  gate.open();
  held.get();
  pool.wait();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(test::stop_failing(Call::thread));
}

TEST_P(BlockingTest, NothingIsLostWhileWorkersComeAndGo) {
  auto random = test::random();
  for (std::size_t round = 0; round < test::rounds(15); ++round) {
    ThreadPool pool(options(1 + random() % 3));
    std::atomic<std::uint64_t> ran{0};
    std::uint64_t accepted = 0;
    for (int i = 0; i < 40; ++i) {
      pool.post([&ran, rest = random() % 4] {
        if (rest != 0)
          blocking([rest] {
            for (std::uint64_t k = 1; k < rest; ++k) std::this_thread::yield();
          });
        ++ran;
      });
      ++accepted;
    }
    if (random() % 2 == 0) {
      while (ran < accepted) std::this_thread::yield();  // nobody helps
    }
    const Tally tally = pool.close();
    ASSERT_EQ(tally.done, accepted);
    ASSERT_EQ(ran, accepted);
  }
}

}  // namespace
