// SPDX-License-Identifier: MIT
// OpenMP's tasks, made by one thread of a parallel region.
#pragma once

#include "peers/job.hpp"

namespace handoff::lab::peers {

class OpenMp {
 public:
  explicit OpenMp(std::size_t width) : width_(static_cast<int>(width)) {}

  void batch(std::size_t count, std::size_t steps) {
#pragma omp parallel num_threads(width_)
#pragma omp master
    for (std::size_t i = 1; i <= count; ++i) {
#pragma omp task firstprivate(i)
      static_cast<void>(Job{i, steps}());
    }
  }
  template <class Body>
  void loop(std::size_t count, const Body& body) {
#pragma omp parallel for schedule(static) num_threads(width_)
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
  // Dynamic schedule, for uneven indices: an idle thread takes the next block. Blocks of one index
  // would cost a loop of small ones more than it gains.
  template <class Body>
  void uneven_loop(std::size_t count, const Body& body) {
    const std::size_t block =
        std::max<std::size_t>(count / 64 / static_cast<std::size_t>(width_), 1);
#pragma omp parallel for schedule(dynamic, block) num_threads(width_)
    for (std::size_t i = 0; i < count; ++i) body(i);
  }

  template <class F>
  void enter(const F& root) {
#pragma omp parallel num_threads(width_)
#pragma omp master
    root();
  }
  class Group {
   public:
    explicit Group(OpenMp& /*pool*/) {}
    template <class F>
    void run(F task) {
#pragma omp task firstprivate(task)
      task();
    }
    void wait() {
#pragma omp taskwait
    }
  };

  void run_then_wait(Job job) { batch(job.number, job.steps); }

 private:
  int width_;
};

}  // namespace handoff::lab::peers
