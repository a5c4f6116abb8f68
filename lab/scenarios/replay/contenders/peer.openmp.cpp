// SPDX-License-Identifier: MIT
// OpenMP's tasks, made by one thread of a parallel region as pieces arrive.
#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

class OpenMpTasks {
 public:
  static constexpr bool calls_enter = true;

  explicit OpenMpTasks(std::size_t threads) : threads_(static_cast<int>(threads)) {}

  template <class F>
  void execute(F job) {
#pragma omp task firstprivate(job)
    job();
  }
  template <class F>
  void enter(const F& submit) {
#pragma omp parallel num_threads(threads_)
#pragma omp master
    submit();
  }

 private:
  int threads_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OpenMpTasks>(task); }

}  // namespace handoff::lab::replay
