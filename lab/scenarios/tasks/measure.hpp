// SPDX-License-Identifier: MIT
// Measures a pool in the metrics of `tasks`. A contender's Pool is made from a width, runs batches
// (peers/run_batch.hpp), and has those of these that it can do; what it cannot do is not asked of
// it (WHEN in CMakeLists.txt):
//
//   auto submit(job)            the same as execute, returns something with get()
//   void settle()               before the first get(): helps, where waiters do
//   void run_and_wait(job)      one job in one call: the caller may run it itself
//   void run_then_wait(job)     in two calls: another thread may begin it between them
#pragma once

#include "harness/cpus.hpp"
#include "peers/job.hpp"
#include "scenarios/tasks/batches.hpp"

namespace handoff::lab::tasks {

using peers::Board;
using peers::Job;

struct Task {
  explicit Task(const Parameters& parameters) : given(parameters) {
    if (metric == "crowded" && !stay_on(sched_getcpu())) {
      throw std::runtime_error("cannot be pinned");
    }
  }

  Parameters given;
  std::string metric = given.text("metric");
  // Threads that execute, the waiting caller included where it helps.
  std::size_t width = given.number("width");
  std::size_t count = given.number("count", 1);
  // Of work in a task.
  std::size_t steps = peers::burn_steps(given.number("work", usual_work_ns(metric)));
  // Each batch meets a pool that has been idle for a millisecond.
  bool idle = given.text("state", usual_state(metric)) == "idle";
  peers::Answer* output = nullptr;
};

// A contender's own, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

namespace detail {

// Long enough for every pool to have gone to sleep.
inline void fall_idle() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

// One operation of several batches, each of `count` jobs handed over by `batch`.
template <class Batch>
Operation repeated(const Task& task, const Batch& batch) {
  return [&task, batch, times = batches(task.metric, task.count, task.idle)](Burst& burst) {
    Board::clear();
    if (task.idle) {
      fall_idle();
      burst.timed(batch);
    } else {
      for (std::size_t i = 0; i < times; ++i) batch();
    }
    burst.items(static_cast<double>(task.count * times));
    *task.output = Board::total(burst);
  };
}

template <class Pool>
Operation fire_and_forget(const Task& task, const std::shared_ptr<Pool>& pool) {
  return repeated(task, [&task, pool] { peers::run_batch(*pool, task.count, task.steps); });
}

// Here an item is a sample: an operation's batches together.
template <class Pool>
Operation spread(const Task& task, const std::shared_ptr<Pool>& pool) {
  return [&task, batches = fire_and_forget(task, pool)](Burst& burst) {
    Burst unseen;
    const auto start = std::chrono::steady_clock::now();
    batches(unseen);
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    burst.latencies().record(static_cast<std::uint64_t>(took.count()));
  };
}

template <class Pool>
Operation with_futures(const Task& task, const std::shared_ptr<Pool>& pool) {
  using Future = decltype(pool->submit(Job{}));
  auto futures = std::make_shared<std::vector<Future>>();
  futures->reserve(task.count);
  return repeated(task, [&task, pool, futures] {
    for (std::size_t i = 1; i <= task.count; ++i) {
      futures->push_back(pool->submit(Job{i, task.steps}));
    }
    if constexpr (requires { pool->settle(); }) pool->settle();
    std::uint64_t sum = 0;
    for (Future& future : *futures) sum += future.get();
    futures->clear();
    if (sum != peers::right_answer(task.count, 1).sum) throw std::runtime_error("a future lied");
  });
}

// The caller spins, so that what is measured is how long the other thread needs, not the caller.
template <class Pool>
Operation ping(const Task& task, const std::shared_ptr<Pool>& pool) {
  auto done = std::make_shared<std::atomic<bool>>();
  return repeated(task, [pool, done] {
    done->store(false, std::memory_order_relaxed);
    if constexpr (requires { pool->begin(1); }) pool->begin(1);
    pool->execute([done = done.get()] {
      static_cast<void>(Job{1, 0}());
      done->store(true, std::memory_order_release);
    });
    while (!done->load(std::memory_order_acquire)) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  });
}

// Nothing of it is there before, and nothing is left of it.
template <class Pool>
Operation first_use(const Task& task) {
  return repeated(task, [&task] {
    Pool pool(task.width);
    peers::run_batch(pool, 1, 0);
  });
}

// What a pool costs that has nothing to do, after it had something.
template <class Pool>
Operation idle_cpu(const Task& task, const std::shared_ptr<Pool>& pool) {
  return [&task, warm = fire_and_forget(task, pool)](Burst& burst) {
    Burst unseen;
    warm(unseen);
    fall_idle();
    burst.timed([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
  };
}

}  // namespace detail

template <class Pool>
Operation measure(const Task& task) {
  if constexpr (peers::RunsBatches<Pool>) {
    if (task.metric == "first_use") return detail::first_use<Pool>(task);
  }
  auto pool = std::make_shared<Pool>(task.width);
  if constexpr (peers::RunsBatches<Pool>) {
    for (const char* const metric : {"fire_and_forget", "balance", "crowded"}) {
      if (task.metric == metric) return detail::fire_and_forget(task, pool);
    }
    if (task.metric == "spread") return detail::spread(task, pool);
    if (task.metric == "idle_cpu") return detail::idle_cpu(task, pool);
  }
  if constexpr (requires { pool->submit(Job{}); }) {
    if (task.metric == "future") return detail::with_futures(task, pool);
  }
  if constexpr (requires { pool->execute(Job{}); }) {
    if (task.metric == "ping") return detail::ping(task, pool);
  }
  if constexpr (requires { pool->run_and_wait(Job{}); }) {
    if (task.metric == "run_and_wait") {
      return detail::repeated(task, [pool] { pool->run_and_wait(Job{1, 0}); });
    }
  }
  if constexpr (requires { pool->run_then_wait(Job{}); }) {
    if (task.metric == "run_then_wait") {
      return detail::repeated(task, [pool] { pool->run_then_wait(Job{1, 0}); });
    }
  }
  throw Unavailable("it has no way to do that");
}

}  // namespace handoff::lab::tasks
