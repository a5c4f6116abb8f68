// SPDX-License-Identifier: MIT
//
// What a mutated copy of the library asks: is this mutant the one of this run? Every file of the
// copy sees this header before anything else; nothing else does (docs/design/mutants.md).
//
//   HANDOFF_MUTANT=N             the one mutant that is active; none: the library as it is
//   HANDOFF_MUTANT_HITS=FILE     a byte for each mutant there is, set to 1 once its place is passed
#pragma once

#include <cstdint>

namespace handoff_mutants {

// Set before any constructor of the program runs, constant from then on.
extern std::uint32_t active;
extern unsigned char* hits;  // null: nobody wants to know

// Threads may set the same byte, all to the same value.
__attribute__((no_sanitize("thread"))) inline bool on_at_run_time(std::uint32_t number) noexcept {
  if (hits != nullptr) [[unlikely]]
    hits[number] = 1;
  return number == active;
}

// What the compiler computes is what it always was.
constexpr bool on(std::uint32_t number) noexcept {
  return !__builtin_is_constant_evaluated() && on_at_run_time(number);
}

// `condition`, or its opposite.
constexpr bool flip(std::uint32_t number, bool condition) noexcept {
  return on(number) != condition;
}

}  // namespace handoff_mutants
