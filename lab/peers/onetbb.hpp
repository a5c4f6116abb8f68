// SPDX-License-Identifier: MIT
// oneTBB's task_group in an arena of `width` threads, the caller included: it helps as it waits.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "peers/job.hpp"

namespace handoff::lab::peers {

class OneTbb {
 public:
  explicit OneTbb(std::size_t width)
      : threads_(tbb::global_control::max_allowed_parallelism, width),
        arena_(static_cast<int>(width), 1) {}

  void batch(std::size_t count, std::size_t steps) {
    arena_.execute([&] {
      for (std::size_t i = 1; i <= count; ++i) {
        group_.run([job = Job{i, steps}] { static_cast<void>(job()); });
      }
      group_.wait();
    });
  }
  std::future<std::uint64_t> submit(Job job) {
    Packaged packaged{std::packaged_task<std::uint64_t()>(job)};
    std::future<std::uint64_t> future = packaged.task.get_future();
    arena_.execute([&] { group_.run(std::move(packaged)); });
    return future;
  }
  void settle() {
    arena_.execute([this] { group_.wait(); });
  }
  template <class F>
  void execute(F job) {
    arena_.enqueue(job);
  }
  // Equal blocks: what it has for loops whose indices cost the same.
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    using Range = tbb::blocked_range<std::size_t>;
    const auto block = [&body](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
    };
    arena_.execute([&] { tbb::parallel_for(Range(0, count), block, tbb::static_partitioner()); });
  }
  // Blocks that are divided as threads run out of work: what it has for indices that differ.
  template <class Body>
  void uneven_loop(std::size_t count, const Body& body) {
    arena_.execute([&] { tbb::parallel_for(std::size_t{0}, count, body); });
  }

  // Fork and join: enter() runs the root, a Group's tasks are joined by wait().
  template <class F>
  void enter(const F& root) {
    arena_.execute(root);
  }
  class Group {
   public:
    explicit Group(OneTbb& /*pool*/) {}
    template <class F>
    void run(F task) {
      group_.run(task);
    }
    void wait() { group_.wait(); }

   private:
    tbb::task_group group_;
  };

  void run_and_wait(Job job) {
    arena_.execute([&] { group_.run_and_wait([job] { static_cast<void>(job()); }); });
  }
  void run_then_wait(Job job) {
    arena_.execute([&] {
      group_.run([job] { static_cast<void>(job()); });
      group_.wait();
    });
  }

 private:
  struct Packaged {  // a group's function is called as const
    mutable std::packaged_task<std::uint64_t()> task;
    void operator()() const { task(); }
  };

  tbb::global_control threads_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

// Each time it is called: its parallel_for, in blocks of `grain` indices at least, with the
// partitioner for loops that run over the same data again (ADR 0014).
template <class Body>
std::function<void()> repeated_loop(std::size_t width, std::size_t count, std::size_t grain,
                                    Body body) {
  using Range = tbb::blocked_range<std::size_t>;
  // Without it the arena gets no more threads than there are CPUs.
  auto threads =
      std::make_shared<tbb::global_control>(tbb::global_control::max_allowed_parallelism, width);
  auto arena = std::make_shared<tbb::task_arena>(static_cast<int>(width));
  auto affinity = std::make_shared<tbb::affinity_partitioner>();
  return [count, grain, body, threads, arena, affinity] {
    arena->execute([&] {
      const auto block = [&body](const Range& range) { body(range.begin(), range.end()); };
      tbb::parallel_for(Range(0, count, grain), block, *affinity);
    });
  };
}

}  // namespace handoff::lab::peers
