// SPDX-License-Identifier: MIT
//
// What 16_worker_program.cpp and its worker program have in common: all that they must agree on.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_span.hpp>

// The arguments of the kernel "blur", which has the rows of a picture as its range.
struct Blur {
  // A program that was built with another one is refused: change the 1 with the meaning.
  static constexpr std::uint64_t layout = handoff::shared_layout<float>({1});

  handoff::SharedSpan<const float> from;
  handoff::SharedSpan<float> to;
  std::uint64_t columns = 0;
};
