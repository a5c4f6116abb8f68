// SPDX-License-Identifier: MIT
//
// Mutex: mutual exclusion, hand-over of the data, sleepers that are never forgotten.
#include "support/test.hpp"

namespace {

using namespace handoff::sync;

static_assert(sizeof(Mutex) == 4);

TEST(Mutex, TryLockFailsWhileHeld) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(Mutex, LockHoldsForItsScope) {
  Mutex mutex;
  {
    const Lock lock(mutex);
    EXPECT_FALSE(mutex.try_lock());
  }
  ASSERT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// More threads than CPUs, so that holders are preempted and waiters really sleep.
TEST(Mutex, PlainDataUnderItIsExact) {
  Mutex mutex;
  std::size_t plain = 0;
  const std::size_t each = handoff::test::rounds(50'000);
  handoff::test::Crew(8, [&] {
    for (std::size_t k = 0; k < each; ++k) {
      const Lock lock(mutex);
      ++plain;
    }
  }).join();
  EXPECT_EQ(plain, 8 * each);
}

TEST(Mutex, ASleeperIsWokenWhenAHolderThatSleptLetsGo) {
  Mutex mutex;
  for (int round = 0; round < 200; ++round) {
    mutex.lock();
    std::vector<std::thread> waiters;
    for (int i = 0; i < 3; ++i) waiters.emplace_back([&] { const Lock lock(mutex); });
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // let them fall asleep
    mutex.unlock();
    for (auto& waiter : waiters) waiter.join();  // hangs if one was forgotten
  }
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

}  // namespace
