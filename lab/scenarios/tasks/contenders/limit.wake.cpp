// SPDX-License-Identifier: MIT
// The bare cost of a sleeping thread's help: one futex wake, one thread that runs what it finds.
#include <functional>
#include <optional>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

class OneSleeper {
 public:
  explicit OneSleeper(std::size_t /*width*/) : thread_([this] { work(); }) {}
  ~OneSleeper() { hand_over(nullptr); }

  template <class F>
  void execute(F job) {
    job_ = job;
    hand_over(&job_);
  }

 private:
  void hand_over(std::function<void()>* job) {
    next_ = job;
    given_.store(1, std::memory_order_release);
    syscall(SYS_futex, &given_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void work() {
    for (;;) {
      while (given_.load(std::memory_order_acquire) == 0) {
        syscall(SYS_futex, &given_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
      }
      given_.store(0, std::memory_order_relaxed);
      if (next_ == nullptr) return;
      (*next_)();
    }
  }

  std::atomic<int> given_{0};
  std::function<void()>* next_ = nullptr;
  std::function<void()> job_;
  std::jthread thread_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OneSleeper>(task); }

}  // namespace handoff::lab::tasks
