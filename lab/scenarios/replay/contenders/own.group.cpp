// SPDX-License-Identifier: MIT
// This library's task group: all pieces are tasks that are waited for together, and the caller
// helps once it has handed them over.
#include <cstddef>

#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

class Group {
 public:
  static constexpr bool calls_enter = true;

  explicit Group(std::size_t threads) : pool_({.width = threads - 1}) {}

  template <class F>
  void execute(F job) {
    group_->run(job);
  }
  template <class F>
  void enter(const F& submit) {
    TaskGroup group(pool_);
    group_ = &group;
    submit();
    group.wait();
  }

 private:
  ThreadPool pool_;
  TaskGroup* group_ = nullptr;  // of this replay
};

}  // namespace

Operation contender(const Task& task) {
  if (task.width == 1) throw Unavailable("it has two threads: its pool's, and the one that helps");
  return measure<Group>(task);
}

}  // namespace handoff::lab::replay
