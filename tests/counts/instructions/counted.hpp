// SPDX-License-Identifier: MIT
//
// How the programs' rows are counted.
#pragma once

#include <valgrind/callgrind.h>

#include <cstdint>
#include <string>

namespace handoff::test {

inline constexpr std::uint64_t kTimes = 2000;

template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

// Counts kTimes calls, after as many that warm up. The name of the dump is that of the row, and how
// many operations there were.
template <class F>
void count(const std::string& row, const F& operate, std::uint64_t operations = 1) {
  const auto repeat = [&] {
    for (std::uint64_t i = 0; i < kTimes; ++i) operate(i);
  };
  repeat();
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  repeat();
  CALLGRIND_TOGGLE_COLLECT;
  const std::string name = row + "\t" + std::to_string(kTimes * operations);
  CALLGRIND_DUMP_STATS_AT(name.c_str());
}

// Rows of units of their own: what a compiler inlines depends on what else a unit has.
void groups();

}  // namespace handoff::test
