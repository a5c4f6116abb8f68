// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/tasks/contender.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>

#include <sched.h>

#include "peers/kernel.hpp"
#include "scenarios/tasks/batches.hpp"

namespace {

// This thread, and all that are started from now on.
void stay_on_one_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) throw std::runtime_error("cannot be pinned");
}

}  // namespace

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte>) {
  struct Bench {
    peers::Answer output;
    tasks::Task task;
  };
  auto bench = std::make_shared<Bench>();
  const std::string metric = parameters.text("metric");
  if (metric == "crowded") stay_on_one_cpu();
  const auto work_ns = static_cast<double>(parameters.number("work", tasks::usual_work_ns(metric)));
  const auto steps = work_ns > 0 ? std::llround(work_ns / peers::burn_step_ns()) : 0;
  bench->task = {metric,
                 parameters.number("width"),
                 parameters.number("count", 1),
                 static_cast<std::size_t>(steps),
                 parameters.text("state", tasks::usual_state(metric)) == "idle",
                 &bench->output};
  return {[bench, operation = tasks::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
