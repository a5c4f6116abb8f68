// SPDX-License-Identifier: MIT
// Measures a pool in the metrics of `grain`. A contender's Pool is made from a width, runs batches
// (peers/run_batch.hpp) and has loop(count, body); what it has not is not asked of it (WHEN in
// CMakeLists.txt).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "peers/job.hpp"
#include "peers/run_batch.hpp"
#include "scenarios/grain/contender.hpp"
#include "scenarios/grain/sweep.hpp"

namespace handoff::lab::grain {

namespace detail {

template <class Run>
double wall_ns(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// Useful work over what the threads could have done meanwhile.
template <class Pool>
double efficiency(const Task& task, Pool& pool, std::size_t size) {
  const std::size_t count = tasks_of(size);
  std::array<double, trials> times{};
  for (double& time : times) {
    time = wall_ns([&] {
      if (task.by_index) {
        if constexpr (requires { pool.loop(count, [](std::size_t) {}); }) {
          pool.loop(count, [size](std::size_t i) { static_cast<void>(peers::Job{i + 1, size}()); });
        }
      } else {
        if constexpr (peers::RunsBatches<Pool>) peers::run_batch(pool, count, size);
      }
    });
  }
  std::nth_element(times.begin(), times.begin() + trials / 2, times.end());
  const double useful = static_cast<double>(count * size) * task.step_ns;
  return useful / (times[trials / 2] * static_cast<double>(task.width));
}

// One loop over tiny items is an operation. How it is shared out is the pool's affair.
template <class Pool>
Operation fill(const Task& task, const std::shared_ptr<Pool>& pool) {
  return [&task, pool](Burst& burst) {
    pool->loop(task.items.size(), [items = task.items.data()](std::size_t i) {
      items[i] = tiny(static_cast<Tiny>(i));
    });
    burst.items(static_cast<double>(task.items.size()));
  };
}

}  // namespace detail

// A sweep is an operation. The steps' length was measured on one thread that had the machine.
template <class Pool>
Operation measure(const Task& task) {
  auto pool = std::make_shared<Pool>(task.width);
  if (!task.items.empty()) {
    if constexpr (requires { pool->loop(0, [](std::size_t) {}); }) {
      return detail::fill(task, pool);
    }
    throw Unavailable("it has no loops");
  }
  return [&task, pool](Burst& burst) {
    peers::Board::clear();
    Efficiency found{};
    for (std::size_t i = sizes.size(); i-- > 0;) {
      found[i] = detail::efficiency(task, *pool, sizes[i]);
      burst.point("efficiency", static_cast<double>(sizes[i]) * task.step_ns, found[i]);
    }
    const double half = full_efficiency(found, task.width) / 2;
    burst.figure("metg50", half_size(found, half) * task.step_ns);
    *task.output = peers::Board::total(burst);
    burst.items(static_cast<double>(task.output->runs));
  };
}

}  // namespace handoff::lab::grain
