// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/tasks/contender.hpp"

#include <cmath>

#include <sched.h>

#include "harness/cpus.hpp"
#include "peers/kernel.hpp"
#include "scenarios/tasks/batches.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  const std::string metric = parameters.text("metric");
  if (metric == "crowded" && !stay_on(sched_getcpu())) throw std::runtime_error("cannot be pinned");
  const auto work_ns = static_cast<double>(parameters.number("work", tasks::usual_work_ns(metric)));
  const auto steps = work_ns > 0 ? std::llround(work_ns / peers::burn_step_ns()) : 0;
  return prepared(tasks::contender,
                  tasks::Task{metric, parameters.number("width"), parameters.number("count", 1),
                              static_cast<std::size_t>(steps),
                              parameters.text("state", tasks::usual_state(metric)) == "idle"});
}
