// SPDX-License-Identifier: MIT
// Measures a pool in the metrics of `grain`. A contender's Pool is made from a width, runs batches
// (peers/run_batch.hpp) and has loop(count, body); what it has not is not asked of it (WHEN in
// CMakeLists.txt).
#pragma once

#include "harness/contender.hpp"
#include "peers/job.hpp"
#include "scenarios/grain/sweep.hpp"

namespace handoff::lab::grain {

struct Task {
  std::string metric;
  bool by_index;  // a loop's index each, else a task each
  std::size_t width;
  double step_ns;  // none for `loop`
  peers::Answer* output;
  std::span<Tiny> items;  // to be filled by `loop`
};

// A contender's own, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

template <class Pool>
concept HasLoops = requires(Pool& pool) { pool.loop(std::size_t{}, [](std::size_t) {}); };

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
        if constexpr (HasLoops<Pool>) {
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

// What the work of an index takes on one thread: the best of several, since others only slow it.
inline double index_ns(std::size_t steps) {
  constexpr std::size_t indices = 50;
  double best = HUGE_VAL;
  for (int trial = 0; trial < 5; ++trial) {
    const double took = wall_ns([steps] {
      for (std::size_t i = 0; i < indices; ++i) static_cast<void>(peers::Job{i + 1, steps}());
    });
    best = std::min(best, took / indices);
  }
  return best;
}

// Runs loops back to back. The first ones, which are not timed, wake the sleeping threads.
template <class Pool>
Operation short_loops(const Task& task, const std::shared_ptr<Pool>& pool) {
  const auto steps = static_cast<std::size_t>(std::llround(index_work_ns / task.step_ns));
  const auto one_loop = [&task, pool, steps] {
    pool->loop(task.width,
               [steps](std::size_t i) { static_cast<void>(peers::Job{i + 1, steps}()); });
  };
  return [&task, steps, one_loop](Burst& burst) {
    constexpr double wake_ns = 200'000;
    peers::Board::clear();
    burst.figure("work", index_ns(steps));
    for (double ns = 0; ns < wake_ns;) ns += wall_ns(one_loop);
    peers::Board::clear();
    burst.timed([&] {
      for (std::size_t i = 0; i < loops; ++i) one_loop();
    });
    burst.items(static_cast<double>(loops));
    *task.output = peers::Board::total(burst);
  };
}

// A sweep is an operation. The steps' length was measured on one thread that had the machine.
template <class Pool>
Operation sweep(const Task& task, const std::shared_ptr<Pool>& pool) {
  return [&task, pool](Burst& burst) {
    peers::Board::clear();
    Efficiency found{};
    for (std::size_t i = sizes.size(); i-- > 0;) {
      found[i] = efficiency(task, *pool, sizes[i]);
      burst.point("efficiency", static_cast<double>(sizes[i]) * task.step_ns, found[i]);
    }
    const double half = full_efficiency(found, task.width) / 2;
    burst.figure("metg50", half_size(found, half) * task.step_ns);
    *task.output = peers::Board::total(burst);
    burst.items(static_cast<double>(task.output->runs));
  };
}

}  // namespace detail

template <class Pool>
Operation measure(const Task& task) {
  auto pool = std::make_shared<Pool>(task.width);
  if (task.metric == "metg50") return detail::sweep(task, pool);
  if constexpr (HasLoops<Pool>) {
    if (task.metric == "loop") return detail::fill(task, pool);
    if (task.metric == "loop_1us") return detail::short_loops(task, pool);
  }
  throw Unavailable("it has no loops");
}

}  // namespace handoff::lab::grain
