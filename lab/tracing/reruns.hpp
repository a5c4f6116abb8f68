// SPDX-License-Identifier: MIT
// What a recording would have taken with more workers: computed, by running it again.
//
// What a worker did from the beginning of an outermost slice to its end is a task; so is, as a
// whole, what any other thread did. A task is as long as it worked, and hands over, waits for what
// it waited for, and needs room as it did. Each begins when what handed it over has got there and a
// worker is free; the one that was ready first goes first. A wait for room ends when what made room
// begins: with more workers that is earlier. What ended a wait is the guess of critical_path.hpp.
// CPUs: no rerun is shorter than all CPU time that was counted, divided by them.
#pragma once

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

struct Reruns {
  std::size_t workers = 0;  // that had tasks
  std::uint64_t as_it_was_ns = 0;  // with so many
  std::uint64_t one_more_ns = 0;
  std::uint64_t any_number_ns = 0;
  std::uint64_t cpus_ns = 0;  // what the CPUs need; 0: not known
};

// Of a recording with more slices nothing is computed.
inline constexpr std::size_t most_rerun = 500'000;

// Nothing: no worker had a task, or there are too many. `at_work`: of each thread, see Usage;
// `cpu_ns`: of all threads.
std::optional<Reruns> reruns_of(const Recording& recording, const std::vector<double>& at_work,
                                std::uint64_t cpu_ns);

}  // namespace handoff::lab::tracing
