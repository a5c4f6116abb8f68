// SPDX-License-Identifier: MIT
// From large tasks to small ones: at which size does a way still run at half of full efficiency?
// The sizes and the counts are known to both sides, since both count the tasks.
// Source: the metric is METG(50 %) of E. Slaughter et al., "Task Bench: A Parameterized Benchmark
// for Evaluating Parallel Runtime Performance" (2020).
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::grain {

// Steps of work in a task, each about a nanosecond (kernel.hpp).
inline constexpr std::array<std::size_t, 22> sizes{1,   2,    3,    4,    6,     8,    12,  16,
                                                   24,  32,   48,   64,   96,    128,  192, 256,
                                                   512, 1024, 2048, 4096, 16384, 65536};
inline constexpr std::size_t trials = 3;  // of each size; the middle one counts

// Some milliseconds of work where tasks are large, so that waking threads up does not count.
constexpr std::size_t tasks_of(std::size_t size) {
  constexpr std::size_t work = std::size_t{1} << 21;
  return std::clamp<std::size_t>(work / size, 64, 10'000);
}

using Efficiency = std::array<double, sizes.size()>;

// Full efficiency is the best of the sweep: CPUs that share a core do not do twice the work of one,
// and how much more they do is the machine's affair. It is at least what one thread does alone.
inline double full_efficiency(const Efficiency& efficiency, std::size_t width) {
  return std::max(*std::max_element(efficiency.begin(), efficiency.end()),
                  1 / static_cast<double>(width));
}

// The least size at which the efficiency is `half` or above, and at the next one too, so that a
// lucky moment does not count; what disturbs a larger size does not either. Between two sizes by
// the logarithm, in steps. The largest size, which is the least that it can be, if there is no such
// size: a neighbour may take the CPUs during a whole sweep, and that breaks nothing.
inline double half_size(const Efficiency& efficiency, double half) {
  std::size_t i = 0;
  while (i + 1 < sizes.size() && (efficiency[i] < half || efficiency[i + 1] < half)) ++i;
  if (i + 1 == sizes.size()) return static_cast<double>(sizes.back());
  if (i == 0) return static_cast<double>(sizes[0]);
  const double low = std::log(static_cast<double>(sizes[i - 1]));
  const double high = std::log(static_cast<double>(sizes[i]));
  const double share = (half - efficiency[i - 1]) / (efficiency[i] - efficiency[i - 1]);
  return std::exp(low + share * (high - low));
}

// The metric `loop_1us`: loops one after the other. They have one index for each member, each a
// microsecond of work. Both sides count the indices.
inline constexpr double index_work_ns = 1000;
inline constexpr std::size_t loops = 100;  // of an operation

// The items of the metric `loop`: each is its index, mixed, a fraction of a nanosecond of work that
// compilers turn into vector instructions if the loop around it lets them.
using Tiny = std::uint32_t;

constexpr Tiny tiny(Tiny index) {
  index = (index ^ (index >> 16)) * 0x85ebca6bU;
  index = (index ^ (index >> 13)) * 0xc2b2ae35U;
  return index ^ (index >> 16);
}

}  // namespace handoff::lab::grain
