// SPDX-License-Identifier: MIT
//
// EventCount: who is woken, by what, and how many system calls it takes.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::sync;
using namespace std::chrono_literals;
using Waiter = EventCount::Waiter;

std::size_t wake_calls() { return handoff::test::calls(handoff::test::Call::wake); }

// Threads that wait once each, known to be asleep.
class Sleepers {
 public:
  Sleepers(EventCount& events, int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, &events, i] {
        Waiter waiter(events);
        EXPECT_EQ(waiter.wait(), Wakeup::notified);
        {
          const std::lock_guard lock(mutex_);
          order_.push_back(i);
        }
        woken_.fetch_add(1);
      });
      while (events.was_waiting() != static_cast<std::uint32_t>(i) + 1) std::this_thread::yield();
    }
    std::this_thread::sleep_for(20ms);  // from registered to asleep
  }
  ~Sleepers() {
    for (auto& thread : threads_) thread.join();
  }
  void expect_woken(int count) {
    while (woken_ < count) std::this_thread::yield();
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(woken_, count);
  }
  const std::vector<int>& order() const { return order_; }

 private:
  std::mutex mutex_;
  std::vector<int> order_;
  std::atomic<int> woken_{0};
  std::vector<std::thread> threads_;
};

TEST(EventCount, NotifyWithNobodyWaitingMakesNoSystemCall) {
  EventCount events;
  const std::size_t before = wake_calls();
  for (int i = 0; i < 1000; ++i) {
    events.notify_one();
    events.notify_all();
  }
  EXPECT_EQ(wake_calls(), before);
}

TEST(EventCount, NotifyOneWakesTheLongestWaiterAndNobodyElse) {
  EventCount events;
  Sleepers sleepers(events, 3);
  const std::size_t before = wake_calls();
  for (int woken = 1; woken <= 3; ++woken) {
    events.notify_one();
    sleepers.expect_woken(woken);
  }
  EXPECT_EQ(sleepers.order(), (std::vector{0, 1, 2}));
  EXPECT_EQ(wake_calls() - before, 3U);
}

TEST(EventCount, ANotifiedSleeperIsForgottenAtOnce) {
  EventCount events;
  Sleepers sleepers(events, 1);
  const std::size_t before = wake_calls();
  for (int i = 0; i < 100; ++i) events.notify_one();  // it has hardly had time to run
  EXPECT_EQ(wake_calls() - before, 1U);
}

TEST(EventCount, NotifySomeWakesSoManyAndNotifyAllTheRest) {
  EventCount events;
  Sleepers sleepers(events, 5);
  events.notify_some(2);
  while (events.was_waiting() != 3) std::this_thread::yield();
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(events.was_waiting(), 3U);
  events.notify_all();
}

TEST(EventCount, AWaiterThatIsAwakeCostsNoSystemCall) {
  EventCount events;
  const std::size_t before = wake_calls();
  Waiter waiter(events);
  events.notify_one();
  EXPECT_EQ(waiter.wait(), Wakeup::notified);
  EXPECT_EQ(wake_calls(), before);
}

TEST(EventCount, ADeadlineEndsTheWaitAndTheRegistration) {
  EventCount events;
  for (const auto wait : {0ms, 5ms}) {
    Waiter waiter(events);
    const Deadline deadline = deadline_after(wait);
    EXPECT_EQ(waiter.wait(deadline), Wakeup::timed_out);
    EXPECT_GE(clock::now(), deadline) << "never before it";
    EXPECT_EQ(events.was_waiting(), 0U);
  }
}

TEST(EventCount, ANotificationBeatsADeadlineThatHasPassed) {
  EventCount events;
  Waiter waiter(events);
  events.notify_one();
  EXPECT_EQ(waiter.wait(Deadline{}), Wakeup::notified);
}

TEST(EventCount, AStandardTokenStopsItToo) {
  EventCount events;
  std::jthread thread([&](std::stop_token token) {
    EXPECT_EQ(events.await([] { return false; }, no_deadline, token), Wakeup::stopped);
  });
  while (events.was_waiting() == 0) std::this_thread::yield();
  thread.request_stop();
}

TEST(EventCount, AwaitAsksTheConditionLast) {
  EventCount events;
  StopSource stopped;
  stopped.request_stop();
  EXPECT_EQ(events.await([] { return true; }, Deadline{}, stopped.token()), Wakeup::notified);
  EXPECT_EQ(events.await([] { return false; }, no_deadline, stopped.token()), Wakeup::stopped);
  EXPECT_EQ(events.await([] { return false; }, deadline_after(1ms)), Wakeup::timed_out);
  // True only after the wait has failed: that is still a yes.
  int asked = 0;
  EXPECT_EQ(events.await([&] { return ++asked == 3; }, Deadline{}, {}, Spin::never),
            Wakeup::notified);
}

TEST(EventCount, AConditionThatThrowsLeavesNothingBehind) {
  EventCount events;
  int asked = 0;
  EXPECT_THROW((void)events.await([&]() -> bool { return ++asked == 2 ? throw 1 : false; },
                                  no_deadline, {}, Spin::never),
               int);
  EXPECT_EQ(events.was_waiting(), 0U);
}

}  // namespace
