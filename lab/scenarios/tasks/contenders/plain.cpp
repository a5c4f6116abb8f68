// SPDX-License-Identifier: MIT
// What needs no library.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

// What std::future costs by itself: a std::packaged_task made and called on the spot.
struct Inline {
  explicit Inline(std::size_t /*width*/) {}
  std::future<std::uint64_t> submit(Job job) {
    std::packaged_task<std::uint64_t()> task(job);
    std::future<std::uint64_t> future = task.get_future();
    task();
    return future;
  }
};

Operation packaged_task(const Task& task) {
  // libstdc++ leaves out its atomic operations as long as there is one thread only.
  static std::jthread second([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  return measure<Inline>(task);
}

// The bare cost of a sleeping thread's help: one futex wake, one thread that runs what it finds.
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

// std::async with std::launch::async: a thread for each task.
struct StdAsync {
  explicit StdAsync(std::size_t /*width*/) {}
  std::future<std::uint64_t> submit(Job job) { return std::async(std::launch::async, job); }
};

Operation std_async(const Task& task) {
  // A thread's stack is there until its future is asked.
  constexpr std::size_t most_threads = 1000;
  if (task.count > most_threads) throw Unavailable("it would start a thread for each task at once");
  return measure<StdAsync>(task);
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"limit.packaged_task", packaged_task},
                                         {"limit.wake", measure<OneSleeper>},
                                         {"peer.std_async", std_async}})(task);
}

}  // namespace handoff::lab::tasks
