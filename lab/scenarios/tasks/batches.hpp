// SPDX-License-Identifier: MIT
// What an operation of `tasks` consists of: known to both sides, since both count the tasks.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::tasks {

// A batch is `count` tasks handed over, then waited for. Small ones are repeated within an
// operation, so that reading the clock does not count.
constexpr std::size_t batches(std::size_t count, bool idle, std::size_t enough) {
  return idle || count >= enough ? 1 : enough / count;
}

// So many tasks an operation has at least. One of `spread` is a sample of a millisecond or more, as
// long as a task costs 5 ns.
inline std::size_t batches(const std::string& metric, std::size_t count, bool idle) {
  return batches(count, idle, metric == "spread" ? 200'000 : 10'000);
}

// Whether an operation is a single task, for an idle pool or for a new one.
inline bool is_of_one_task(const std::string& metric) {
  return metric == "ping" || metric == "run_and_wait" || metric == "run_then_wait" ||
         metric == "first_use";
}

// Where a metric has no such parameter: whether a batch meets an idle pool, and a task's work.
inline const char* usual_state(const std::string& metric) {
  return is_of_one_task(metric) || metric == "idle_cpu" ? "idle" : "hot";
}
inline std::uint64_t usual_work_ns(const std::string& metric) {
  return metric == "balance" ? 1000 : 0;
}

}  // namespace handoff::lab::tasks
