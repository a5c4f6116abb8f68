// SPDX-License-Identifier: MIT
// What a contender answers that ran numbered jobs, and what is right: each counted itself once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace handoff::lab::peers {

struct Answer {
  std::uint64_t runs;
  std::uint64_t sum;  // of the jobs' numbers, each from 1 on
};

// The jobs 1 .. count, so many times.
constexpr Answer right_answer(std::size_t count, std::size_t times) {
  return {count * times, count * (count + 1) / 2 * times};
}

}  // namespace handoff::lab::peers
