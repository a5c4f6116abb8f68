// SPDX-License-Identifier: MIT
// Two producers and a consumer at one ring, through every schedule within two deviations: weak
// memory, spurious failures, race clocks and all verdicts on.
#include <memory>

#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/sync/detail/explore/explore.hpp>
#include <handoff/sync/detail/pause.hpp>

#include "harness/contender.hpp"
#include "scenarios/explorer/answer.hpp"

namespace {

using namespace handoff;

void two_producers() {
  MpmcRing<std::uint64_t> ring(4);
  const auto push = [&ring](std::uint64_t item) {
    explore::check(ring.try_push(std::move(item)) == Status::ok, "there is a place for each");
  };
  explore::Thread one([&] {
    push(1);
    push(2);
  });
  explore::Thread two([&] {
    push(3);
    push(4);
  });
  std::uint64_t items[4] = {0, 0, 0, 0};
  for (std::uint64_t& item : items) {
    while (ring.try_pop(item) != Status::ok) sync::pause();
  }
  ring.close();
  explore::check(ring.try_pop(items[0]) == Status::closed, "nothing is left");
  explore::check(items[0] + items[1] + items[2] + items[3] == 10, "each item once");
  explore::outcome(items[0] * 100 + items[1] * 10 + items[2]);
}

}  // namespace

handoff::lab::Prepared handoff::lab::prepare(const Parameters&, std::span<const std::byte>) {
  auto answer = std::make_shared<explorer::Answer>();
  return {[answer](Burst& burst) {
            const explore::Result result = explore::run({.deviations = 2}, two_producers);
            burst.items(static_cast<double>(result.executions));
            *answer = {result.ok(), result.final_states, result.steps / result.executions};
          },
          std::as_writable_bytes(std::span(answer.get(), 1))};
}
