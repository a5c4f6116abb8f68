// SPDX-License-Identifier: MIT
//
// A pool's life while the system refuses something: the k-th thread, allocation or sleep, for every
// k until all goes well. What was accepted runs, what was not is the caller's, nothing is left.
#include "support/child.hpp"
#include "support/failing.hpp"
#include "support/test.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

class PoolFailingCalls : public test::ModeTest {};
HANDOFF_EACH_MODE(PoolFailingCalls);

// What a user does with a pool. Refusals by bad_alloc are counted, everything else must work.
void live(const ThreadPoolOptions& options, std::size_t& width) {
  ThreadPool pool(options);
  width = pool.width();
  std::atomic<std::uint64_t> ran{0};
  std::uint64_t accepted = 0;
  const auto attempt = [&](auto&& hand_over) {
    if (test::had_memory(hand_over)) ++accepted;
  };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      attempt([&] { pool.post([&] { ++ran; }); });
      attempt([&] { (void)pool.submit([&] { ++ran; }); });
    }
    std::array<char, 200> large{};
    attempt([&] { pool.post([&ran, large] { ran += large.size() / 200; }); });
    {
      TaskGroup group(pool);
      for (int i = 0; i < 100; ++i) attempt([&] { group.run([&] { ++ran; }); });
      EXPECT_EQ(group.wait(Until()), Status::ok);
    }
    pool.wait();
    EXPECT_EQ(ran, accepted);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that workers fall asleep
  }
  const Tally tally = pool.close();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.pending, 0U);
  // A group that found no memory for its seat ran its tasks itself, and they are not the pool's.
  EXPECT_LE(tally.accepted, accepted + tally.cancelled);
}

TEST_P(PoolFailingCalls, ThreadsThatAreRefusedMakeThePoolNarrower) {
  const bool grows = GetParam() == PoolMode::cached;  // then they come later, or are not needed
  const std::size_t before = threads_of_process().size();
  int refused = 0;
  const int places = until_whole(Call::thread, EAGAIN, [&] {
    std::size_t width = 0;
    try {
      live(options(4), width);
      EXPECT_EQ(width, grows ? 4U : static_cast<std::size_t>(std::min(refused, 4)));
    } catch (const std::system_error& error) {
      EXPECT_EQ(refused, 0) << "only a pool without any thread cannot be: " << error.what();
    }
    ++refused;
    EXPECT_TRUE(threads_become_at_most(before));
  });
  EXPECT_GE(places, grows ? 1 : 4);
  EXPECT_LE(places, 4);
}

TEST_P(PoolFailingCalls, NoMemoryLosesNothing) {
  const std::size_t before = threads_of_process().size();
  const auto scenario = [&] {
    std::size_t width = 0;
    try {
      live(options(2), width);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(width, 0U) << "only the constructor may give up";
    }
  };
  const int places = until_whole(Call::allocation, 0, scenario,
                                 [&] { EXPECT_TRUE(threads_become_at_most(before)); });
  EXPECT_GT(places, 50);
}

// The same for tasks that begin later. What is asked for in vain was not taken, all else runs.
void live_later(const ThreadPoolOptions& options) {
  ThreadPool pool(options);
  std::atomic<std::uint64_t> ran{0};
  std::atomic<std::uint64_t> runs{0};
  std::uint64_t accepted = 0;
  std::uint64_t never = 0;
  const auto attempt = [](std::uint64_t& taken, auto&& ask) {
    try {
      (void)ask();
      ++taken;
    } catch (const std::bad_alloc&) {
    } catch (const std::system_error&) {
    }
  };
  std::uint64_t series = 0;
  for (int i = 0; i < 10; ++i) {
    attempt(accepted, [&] { return pool.post_after(50us * i, [&] { ++ran; }); });
    attempt(never, [&] { return pool.post_after(1h, [] {}); });
    if (i == 0) attempt(series, [&] { return pool.post_every(100us, [&] { ++runs; }); });
  }
  EXPECT_GE(accepted + never + series, 20U) << "one fails at most, what follows does not";
  while (ran < accepted || runs < 3 * series) std::this_thread::sleep_for(100us);
  const Tally tally = pool.close();
  EXPECT_EQ(ran, accepted);
  EXPECT_TRUE(test::came_to(tally, {.done = ran + runs, .cancelled = never}));
}

TEST_P(PoolFailingCalls, LaterTasksAreNotLostForWantOfAThread) {
  const std::size_t before = threads_of_process().size();
  int refused = 0;
  const int places = until_whole(Call::thread, EAGAIN, [&] {
    try {
      live_later(options(2));
    } catch (const std::system_error& error) {
      EXPECT_EQ(refused, 0) << "only a pool without any thread cannot be: " << error.what();
    }
    ++refused;
    EXPECT_TRUE(threads_become_at_most(before));
  });
  EXPECT_GE(places, 2);
}

TEST_P(PoolFailingCalls, LaterTasksAreNotLostForWantOfMemory) {
  const std::size_t before = threads_of_process().size();
  int given_up = 0;
  const int places = until_whole(
      Call::allocation, 0,
      [&] {
        try {
          live_later(options(2));
        } catch (const std::bad_alloc&) {
          ++given_up;  // the constructor
        }
      },
      [&] { EXPECT_TRUE(threads_become_at_most(before)); });
  EXPECT_GT(places, given_up + 20);
}

// The queue needs memory for tasks that are due: they come later, and hold no room for longer than
// others. Again if this thread was so slow that they had come before anything could fail.
TEST_P(PoolFailingCalls, DueTasksAreNotLostForWantOfMemory) {
  std::atomic<std::uint64_t> ran{0};
  std::uint64_t tasks = 0;
  test::Gate gate;
  ThreadPoolOptions bounded = options(1);
  bounded.capacity = 1;
  bounded.on_full = OnFull::reject;
  ThreadPool pool(bounded);
  test::hold(pool, gate);
  for (bool failed = false; !failed;) {
    const sync::Deadline due = sync::deadline_after(50ms);
    for (int i = 0; i < 1500; ++i, ++tasks) (void)pool.post_at(due, [&] { ++ran; });
    const std::size_t before = test::calls(Call::allocation);
    test::fail_after(Call::allocation, 0, 0);
    while (test::calls(Call::allocation) == before && sync::clock::now() < due + 1s) {
      std::this_thread::yield();
    }
    failed = test::stop_failing(Call::allocation);
  }
  gate.open();
  while (ran != tasks) std::this_thread::yield();
  pool.wait();
  EXPECT_EQ(pool.try_post([] {}), Status::ok) << "there is room";
  EXPECT_EQ(pool.close().done, tasks + 2);
}

TEST_P(PoolFailingCalls, SleepsThatAreCutShortChangeNothing) {
  int k = 0;
  for (; k < 20; ++k) {
    test::fail_after(Call::futex, k, EINTR);
    std::size_t width = 0;
    live(options(2), width);
    (void)test::stop_failing(Call::futex);
  }
  EXPECT_EQ(k, 20);
}

// No wake-up call while a worker is awake or on its way. A pool, and one with the fault: each task
// wakes everybody.
struct WakesOne {
  static void post(ThreadPool& pool, const std::function<void()>& task) { pool.post(task); }
};
struct WakesAll {
  static void post(ThreadPool& pool, const std::function<void()>& task) {
    for (std::size_t i = 0; i < pool.width(); ++i) pool.post([] {}, {.worker = i});
    pool.post(task);
  }
};

// Wake-ups for so many tasks, one at a time, each for a pool that is asleep. On a busy machine it
// takes a worker some time to fall asleep, and a worker that is awake need not be woken.
template <class Way>
std::size_t wake_ups(ThreadPool& pool, int tasks) {
  std::atomic<int> ran{0};
  const std::size_t before = test::calls(Call::wake);
  for (int i = 0; i < tasks; ++i) {
    while (!test::all_others_sleep()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    Way::post(pool, [&] { ++ran; });
    while (ran <= i) std::this_thread::yield();
  }
  return test::calls(Call::wake) - before;
}

TEST_P(PoolFailingCalls, WakesAtMostOneSleeperPerTask) {
  test::Gate gate;  // outlives the pool, whose tasks look at it
  ThreadPool pool(options(4));
  constexpr int tasks = 300;
  EXPECT_LE(wake_ups<WakesOne>(pool, tasks), 2U * tasks);
  pool.post([&] { gate.wait(); });
  const std::size_t before = test::calls(Call::wake);
  for (int i = 0; i < 10'000; ++i) pool.post([] {});  // a burst
  EXPECT_LE(test::calls(Call::wake) - before, 2'000U);
  gate.open();
  pool.wait();
  EXPECT_GT(wake_ups<WakesAll>(pool, tasks), 2U * tasks);
}

TEST_P(PoolFailingCalls, AForkedChildMayExecWhileThePoolIsBusy) {
  ThreadPool pool(options(4));
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> accepted{0};
  std::thread submitter([&] {
    while (!over) accepted += pool.try_post([] {}) == Status::ok ? 1 : 0;
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(test::in_child([] { return execl("/bin/true", "true", nullptr); }), 0);
  }
  over = true;
  submitter.join();
  EXPECT_TRUE(test::came_to(pool.close(), {.done = accepted}));
}

}  // namespace
