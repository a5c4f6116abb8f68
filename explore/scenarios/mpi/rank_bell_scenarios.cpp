// SPDX-License-Identifier: MIT
//
// The bell of a rank that sleeps: the scenarios of docs/design/rank_team.md.
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include "explore/scenario.hpp"
#include "mpi/rank_bell.hpp"

namespace rank_bell_scenarios { namespace {

using namespace handoff;
using detail::RankBell;
using explore::check;
using explore::Thread;
using namespace test;

// What is sent is found at the latest after the ring: else the owner would sleep for ever.
const Scenario each_is_heard("rank_bell/each_is_heard", [] {
  RankBell bell;
  sync::atomic<int> first(0);
  sync::atomic<int> second(0);
  const auto send = [&](sync::atomic<int>& message) {
    message.store(1, sync::order::relaxed);  // order: relaxed, the bell orders it
    bell.ring();
  };
  Thread one([&] { send(first); });
  Thread other([&] { send(second); });
  for (;;) {
    const std::uint32_t heard = bell.heard();
    // order: relaxed, ordered by heard()
    const int sum = first.load(sync::order::relaxed) + second.load(sync::order::relaxed);
    if (sum == 2) break;
    bell.sleep(heard, sync::no_deadline);
  }
  one.join();
  other.join();
});

// A deadline ends the sleep, and the bell still rings after it.
const Scenario rings_after_a_deadline("rank_bell/rings_after_a_deadline", [] {
  RankBell bell;
  sync::atomic<int> message(0);
  Thread one([&] {
    message.store(1, sync::order::relaxed);  // order: relaxed, the bell orders it
    bell.ring();
  });
  bell.sleep(bell.heard(), sync::clock::now());
  for (;;) {
    const std::uint32_t heard = bell.heard();
    if (message.load(sync::order::relaxed) == 1) break;  // order: relaxed, ordered by heard()
    bell.sleep(heard, sync::no_deadline);
  }
  one.join();
  check(bell.heard() != 0, "it rang");
});

}}  // namespace rank_bell_scenarios
