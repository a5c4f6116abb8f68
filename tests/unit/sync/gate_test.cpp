// SPDX-License-Identifier: MIT
//
// Gate: a crowd sleeps at it until it has changed, and is woken by one call.
#include <handoff/sync/internal/gate.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::sync;
using namespace std::chrono_literals;

std::size_t wake_calls() { return handoff::test::calls(handoff::test::Call::wake); }

// Threads that wait for a change after `seen`.
class Crowd {
 public:
  Crowd(Gate& gate, std::uint32_t seen, int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, &gate, seen] {
        arrived_.fetch_add(1);
        gate.wait(seen);
        through_.fetch_add(1);
      });
    }
    while (arrived_ != count) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // from arrived to asleep
  }
  ~Crowd() {
    for (auto& thread : threads_) thread.join();
  }
  int through() const { return through_; }

 private:
  std::vector<std::thread> threads_;
  std::atomic<int> arrived_{0};
  std::atomic<int> through_{0};
};

TEST(Gate, WhatHasChangedSinceIsNotWaitedFor) {
  Gate gate;
  const std::uint32_t seen = gate.seen();
  gate.change();
  EXPECT_NE(gate.seen(), seen);
  gate.wait(seen);  // returns
}

TEST(Gate, ACrowdIsWokenByOneCall) {
  Gate gate;
  const std::uint32_t seen = gate.seen();
  {
    Crowd crowd(gate, seen, 16);
    EXPECT_EQ(crowd.through(), 0);
    gate.change();
    const std::size_t before = wake_calls();
    gate.wake_all();
    EXPECT_EQ(wake_calls() - before, 1U);
  }  // all have come through, or this waits for ever
}

TEST(Gate, OneIsWokenAndTheOthersSleepOn) {
  Gate gate;
  const std::uint32_t seen = gate.seen();
  Crowd crowd(gate, seen, 3);
  gate.change();
  gate.wake_one();
  while (crowd.through() < 1) std::this_thread::yield();
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(crowd.through(), 1);
  gate.wake_all();
}

TEST(Gate, AWakeUpWithoutAChangeLetsNobodyThrough) {
  Gate gate;
  const std::uint32_t seen = gate.seen();
  Crowd crowd(gate, seen, 2);
  gate.wake_all();
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(crowd.through(), 0);
  gate.change();
  gate.wake_all();
}

// Each round is missed by a thread whose wake-up is lost, and then this never ends.
TEST(Gate, NoChangeIsMissedWhileThreadsComeAndGo) {
  constexpr int kRounds = 2000;
  Gate gate;
  std::mutex mutex;
  int round = 0;  // under the mutex
  std::atomic<int> behind{0};
  handoff::test::Crew threads(3, [&] {
    for (int next = 1; next <= kRounds; ++next) {
      for (;;) {
        std::uint32_t seen = 0;
        {
          const std::lock_guard lock(mutex);
          if (round >= next) break;
          seen = gate.seen();
        }
        gate.wait(seen);
      }
      behind.fetch_sub(1);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    behind.fetch_add(3);
    {
      const std::lock_guard lock(mutex);
      ++round;
      gate.change();
    }
    gate.wake_all();
    while (behind > 0) std::this_thread::yield();
  }
  threads.join();
  EXPECT_EQ(behind, 0);
}

}  // namespace
