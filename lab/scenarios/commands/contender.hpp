// SPDX-License-Identifier: MIT
// What a contender of `commands` is given. It hands its scheme to measure() (measure.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/commands/work.hpp"

namespace handoff::lab::commands {

struct Task {
  std::string metric;
  std::size_t threads;
  std::size_t calls;     // a multiple of 4 * kChunk
  std::size_t key_bits;  // 16, 32 or 64
  std::size_t work;      // rounds of other work for each component
  Keys keys;
  Answer* output = nullptr;

  [[nodiscard]] std::size_t components() const { return components_of(calls); }
};

// One frame. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::commands
