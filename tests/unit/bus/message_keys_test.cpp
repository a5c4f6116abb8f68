// SPDX-License-Identifier: MIT
//
// MessageWorkers with keys: messages of one key in order and never two at once, others beside them.
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace message_keys_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

struct Step {
  std::uint64_t key = 0;
  int number = 0;
};
struct Free {
  Gate* gate = nullptr;
};
struct ByKey {
  static std::uint64_t key(const Step& step) { return step.key; }
};

// What is known of a key. Plain: if two handlers of a key run at once, a sanitizer sees it.
struct alignas(64) Seen {
  int next = 0;
  int overtakings = 0;
  void take(int number) {
    if (number != next) ++overtakings;
    next = number + 1;
  }
};

// Keys of any distance: while the one is held the other runs, or this hangs.
TEST(MessageKeys, DifferentKeysDoNotWaitForEachOther) {
  auto random = test::random();
  std::vector<std::uint64_t> others = {1, 2, 1024, 4096, std::uint64_t{1} << 32, ~std::uint64_t{0}};
  for (std::size_t i = 0; i < test::rounds(2000); ++i) others.push_back(random() | 1);
  Hold hold;
  std::atomic<std::size_t> ran{0};
  BasicMessageWorkers<ByKey, Step> workers({.width = 2}, [&](const Step& step) {
    if (step.key == 0) return hold();
    ++ran;
  });
  ASSERT_EQ(workers.publish(Step{0, 0}), Status::ok);
  hold.begun.wait();
  for (const std::uint64_t key : others) ASSERT_EQ(workers.publish(Step{key, 0}), Status::ok);
  while (ran < others.size()) std::this_thread::yield();
  hold.gate.open();
  EXPECT_EQ(workers.close().done, others.size() + 1);
}

TEST(MessageKeys, TypesWithoutAKeyRunBesideThem) {
  Gate gate;
  std::atomic<int> steps{0};
  BasicMessageWorkers<ByKey, Step, Free> workers(
      {.width = 2},
      [&](const Step&) {
        gate.wait();
        ++steps;
      },
      [](const Free& free) { free.gate->open(); });
  ASSERT_EQ(workers.publish(Step{}), Status::ok);
  ASSERT_EQ(workers.publish(Step{}), Status::ok);
  ASSERT_EQ(workers.publish(Free{&gate}), Status::ok);
  EXPECT_EQ(workers.close().done, 3U);
  EXPECT_EQ(steps, 2);
}

// Waits while it is moved into its place: a publish that is stopped half way.
struct Stalling {
  Stalling(std::uint64_t its_key, int its_number, Hold* its_hold = nullptr)
      : key(its_key), number(its_number), hold(its_hold) {}
  Stalling(Stalling&& other) noexcept : key(other.key), number(other.number) {
    if (other.hold != nullptr) (*other.hold)();
  }
  std::uint64_t key;
  int number;
  Hold* hold = nullptr;
};
struct ByStallingKey {
  static std::uint64_t key(const Stalling& step) { return step.key; }
};

// It has a place and no more: its key's other messages do not wait for it, let alone those of other
// keys.
TEST(MessageKeys, AStalledPublishDelaysNobodyElse) {
  constexpr int each = 100;
  std::array<Seen, 3> seen;
  std::atomic<int> ran{0};
  BasicMessageWorkers<ByStallingKey, Stalling> workers({.width = 2, .capacity = 4},
                                                       [&](const Stalling& step) {
                                                         seen[step.key].take(step.number);
                                                         ++ran;
                                                       });
  Hold hold;
  std::thread stalled([&] { EXPECT_EQ(workers.publish(Stalling(0, each, &hold)), Status::ok); });
  hold.begun.wait();
  for (int number = 0; number < each; ++number) {
    for (std::uint64_t key = 0; key < seen.size(); ++key) {
      ASSERT_EQ(workers.publish(Stalling(key, number)), Status::ok);
    }
  }
  while (ran < 3 * each) std::this_thread::yield();
  EXPECT_EQ(workers.wait(1ms), Status::timed_out);  // it is accepted
  hold.gate.open();
  stalled.join();
  const Tally tally = workers.close();
  EXPECT_EQ(tally.done, 3U * each + 1);
  EXPECT_EQ(seen[0].next, each + 1);
  for (const Seen& of_key : seen) EXPECT_EQ(of_key.overtakings, 0);
}

// ---- Full ---------------------------------------------------------------------------------------

// Inside a handler a message of the same key can neither wait for room nor run at once.
TEST(MessageKeys, InsideAHandlerTheyAreAcceptedBeyondTheCapacity) {
  for (const OnFull on_full : {OnFull::wait, OnFull::run_here}) {
    std::optional<BasicMessageWorkers<ByKey, Step>> workers;
    Seen seen;
    bool inside = false;  // plain, as are those of `seen`
    int twice = 0;
    workers.emplace(MessageWorkersOptions{.width = 2, .capacity = 1, .on_full = on_full},
                    [&](const Step& step) {
                      twice += inside ? 1 : 0;
                      inside = true;
                      seen.take(step.number);
                      if (step.number == 0) {
                        for (int i = 1; i <= 100; ++i) {
                          EXPECT_EQ(workers->publish(Step{7, i}), Status::ok);
                        }
                        EXPECT_EQ(workers->try_publish(Step{7, 101}), Status::full);
                      }
                      inside = false;
                    });
    ASSERT_EQ(workers->publish(Step{7, 0}), Status::ok);
    EXPECT_EQ(workers->wait(), Status::ok);
    EXPECT_EQ(workers->close().done, 101U);
    EXPECT_EQ(seen.next, 101);
    EXPECT_EQ(seen.overtakings, 0);
    EXPECT_EQ(twice, 0);
  }
}

TEST(MessageKeys, RunHereKeepsTheOrder) {
  Hold hold;
  Seen seen;
  BasicMessageWorkers<ByKey, Step> workers({.width = 2, .capacity = 1, .on_full = OnFull::run_here},
                                           [&](const Step& step) {
                                             hold();
                                             seen.take(step.number);
                                           });
  ASSERT_EQ(workers.publish(Step{3, 0}), Status::ok);
  hold.begun.wait();
  const std::jthread opener([&] {
    while (workers.tally().accepted < 2) std::this_thread::yield();
    hold.gate.open();
  });
  EXPECT_EQ(workers.publish(Step{3, 1}), Status::ok);  // waits for its turn
  EXPECT_EQ(workers.publish(Step{3, 2}), Status::ok);
  EXPECT_EQ(workers.close().done, 3U);
  EXPECT_EQ(seen.next, 3);
  EXPECT_EQ(seen.overtakings, 0);
}

// As any other that was accepted and then dropped.
TEST(MessageKeys, WhatACloseDropsOnItsCallerWasAccepted) {
  Hold hold;
  BasicMessageWorkers<ByKey, Step> workers({.width = 1, .capacity = 1, .on_full = OnFull::run_here},
                                           [&](const Step&) { hold(); });
  ASSERT_EQ(workers.publish(Step{3, 0}), Status::ok);
  hold.begun.wait();
  const std::jthread caller([&] { EXPECT_EQ(workers.publish(Step{3, 1}), Status::ok); });
  while (workers.tally().accepted < 2) std::this_thread::yield();
  EXPECT_TRUE(
      came_to(close_a_held(workers, hold.gate, Closing::abandon), {.done = 1, .cancelled = 1}));
}

// ---- publish_and_wait() ------------------------------------------------------------------------

TEST(MessageKeys, PublishAndWaitTakesItsTurn) {
  Hold hold;
  Seen seen;
  BasicMessageWorkers<ByKey, Step> workers({.width = 1}, [&](const Step& step) {
    hold();
    seen.take(step.number);
    if (step.number == 3) throw std::range_error("told");
  });
  for (int i = 0; i < 3; ++i) ASSERT_EQ(workers.publish(Step{3, i}), Status::ok);
  hold.begun.wait();
  const std::jthread opener([&] {
    while (workers.tally().accepted < 4) std::this_thread::yield();
    hold.gate.open();
  });
  EXPECT_THROW((void)workers.publish_and_wait(Step{3, 3}), std::range_error);
  EXPECT_EQ(seen.next, 4);
  EXPECT_EQ(workers.publish_and_wait(Step{3, 4}), Status::ok);  // nobody has the key: here
  EXPECT_EQ(seen.next, 5);
  EXPECT_EQ(workers.close().done, 4U);
  EXPECT_EQ(seen.overtakings, 0);
}

// The message that a handler waits for lies behind another one of its key, for which no worker is
// left: so this one is replaced.
TEST(MessageKeys, AHandlerThatWaitsForABusyKeyLendsItsWorker) {
  std::optional<BasicMessageWorkers<ByKey, Step>> workers;
  Seen of_other;
  workers.emplace(MessageWorkersOptions{.width = 1}, [&](const Step& step) {
    if (step.key == 8) return of_other.take(step.number);
    EXPECT_EQ(workers->publish(Step{8, 0}), Status::ok);
    EXPECT_EQ(workers->publish_and_wait(Step{8, 1}), Status::ok);
    EXPECT_EQ(of_other.next, 2);
  });
  ASSERT_EQ(workers->publish(Step{7, 0}), Status::ok);
  EXPECT_EQ(workers->wait(Until(std::chrono::hours(1))), Status::ok);  // does not help
  EXPECT_EQ(workers->close().done, 3U);
  EXPECT_EQ(of_other.overtakings, 0);
}

TEST(MessageKeys, WaitingForTheOwnKeyIsMisuse) {
  std::optional<BasicMessageWorkers<ByKey, Step>> workers;
  std::atomic<int> other{0};
  std::atomic<int> refused{0};
  workers.emplace(MessageWorkersOptions{.width = 1}, [&](const Step& step) {
    if (step.key == 8) ++other;
    if (step.key != 7) return;
    EXPECT_EQ(workers->publish_and_wait(Step{8, 0}), Status::ok);
    try {
      (void)workers->publish_and_wait(Step{7, 1});
    } catch (const std::logic_error&) {
      ++refused;
    }
  });
  ASSERT_EQ(workers->publish(Step{7, 0}), Status::ok);
  EXPECT_EQ(workers->wait(), Status::ok);
  EXPECT_EQ(other, 1);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(workers->close().accepted, 2U);
}

// ---- Failures, pause, close ---------------------------------------------------------------------

TEST(MessageKeys, AFailureLeavesTheRestOfItsKey) {
  Seen seen;
  BasicMessageWorkers<ByKey, Step> workers({.width = 2}, [&](const Step& step) {
    seen.take(step.number);
    if (step.number % 2 == 0) throw std::range_error("even");
  });
  for (int i = 0; i < 100; ++i) ASSERT_EQ(workers.publish(Step{1, i}), Status::ok);
  EXPECT_THROW((void)workers.wait(), std::range_error);
  EXPECT_TRUE(came_to(workers.close(), {.done = 50, .failed = 50}));
  EXPECT_EQ(seen.overtakings, 0);
}

// It waits for a message that the pause itself keeps from beginning. The pause gives up, and all go
// on.
TEST(MessageKeys, APauseThatAHandlerKeepsWaitingGivesUp) {
  std::optional<BasicMessageWorkers<ByKey, Step>> workers;
  Hold hold;
  std::atomic<int> ran{0};
  workers.emplace(MessageWorkersOptions{.width = 2}, [&](const Step& step) {
    ++ran;
    if (step.key != 7) return;
    hold();
    EXPECT_EQ(workers->publish_and_wait(Step{8, 1}), Status::ok);
  });
  ASSERT_EQ(workers->publish(Step{7, 0}), Status::ok);
  hold.begun.wait();
  std::thread opener([&] {
    std::this_thread::sleep_for(5ms);  // until the pause has begun
    EXPECT_EQ(workers->publish(Step{8, 0}), Status::ok);
    hold.gate.open();
  });
  const Status said = workers->pause(20ms);
  opener.join();
  workers->resume();  // if the handler was done before the pause began
  EXPECT_TRUE(said == Status::timed_out || said == Status::ok);
  EXPECT_EQ(workers->wait(), Status::ok);
  EXPECT_EQ(ran, 3);
}

TEST(MessageKeys, AnExpiredCloseDropsWhatWaitsBehindAKey) {
  Hold hold;
  std::atomic<std::uint64_t> ran{0};
  BasicMessageWorkers<ByKey, Step> workers({.width = 1}, [&](const Step&) {
    ++ran;
    hold();
  });
  for (int i = 0; i < 100; ++i) ASSERT_EQ(workers.publish(Step{1, i}), Status::ok);
  hold.begun.wait();
  const Tally tally = close_a_held(workers, hold.gate, Closing::finish_until(1ms));
  EXPECT_TRUE(came_to(tally, {.done = ran, .expired = 100 - ran}));
}

}}  // namespace message_keys_test
