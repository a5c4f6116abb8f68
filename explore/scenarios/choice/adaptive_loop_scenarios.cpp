// SPDX-License-Identifier: MIT
//
// The memory of adaptive loops: what is known belongs to the holder of the lock (LM-1), and a word
// that is older harms nothing (LM-2).
#include <handoff/choice/detail/loop_memory.hpp>

#include "explore/scenario.hpp"

namespace adaptive_loop_scenarios { namespace {

using namespace handoff;
using detail::LoopMemory;
using test::Scenario;

constexpr detail::WaySpeeds memory_speeds{1, 2, 0};
constexpr std::size_t memory_slot = 3;

// A loop as AdaptiveLoop runs it; true if it was remembered.
bool run_remembered(LoopMemory& memory, double ns) {
  if (memory.is_quick(memory_slot, false)) return false;
  const LoopMemory::Step step = memory.step(memory_slot);
  detail::SerialPlan plan;
  (void)memory.read_plan(memory_slot, memory_speeds, plan);
  return memory.note(memory_slot, memory_speeds,
                     {.way = step.way, .count = 4, .ns = ns, .spent_ns = ns, .calls = step.calls});
}

const Scenario noted_by_two("adaptive_loop/noted_by_two", [] {
  LoopMemory memory;
  bool first = false;
  explore::Thread other([&] { first = run_remembered(memory, 4000); });
  const bool second = run_remembered(memory, 4000);
  const LoopChoice seen = memory.choice(memory_slot, memory_speeds);
  other.join();
  const LoopChoice choice = memory.choice(memory_slot, memory_speeds);
  explore::check(!second || seen.count == 4, "what this thread noted is known to it");
  explore::check(!(first || second) || choice.count == 4, "what was noted is known");
  explore::check(choice.serial.ns == (choice.count == 4 ? 4000 : 0), "whole");
  explore::outcome((first ? 1U : 0U) + (second ? 2U : 0U));
});

}}  // namespace adaptive_loop_scenarios
