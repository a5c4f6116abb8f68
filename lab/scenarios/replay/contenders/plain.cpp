// SPDX-License-Identifier: MIT
// What needs no library.
#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

// Nothing is handed over: the caller runs each piece itself, as it comes.
class Here {
 public:
  explicit Here(std::size_t /*threads*/) {}

  // A job lets others go: they run after it, not inside it.
  template <class F>
  void execute(F job) {
    waiting_.emplace_back(job);
    if (waiting_.size() > 1) return;
    for (; !waiting_.empty(); waiting_.pop_front()) waiting_.front()();
  }

 private:
  std::deque<std::function<void()>> waiting_;
};

// std::async with std::launch::async: a thread for each piece.
class StdAsync {
 public:
  explicit StdAsync(std::size_t /*threads*/) {}

  // The threads of the replay before have ended, and are joined.
  void begin(std::size_t count) {
    futures_.clear();
    futures_.reserve(count);
  }
  template <class F>
  void execute(F job) {
    const std::lock_guard lock(mutex_);
    futures_.push_back(std::async(std::launch::async, job));
  }

 private:
  std::mutex mutex_;
  std::vector<std::future<void>> futures_;
};

Operation std_async(const Task& task) {
  constexpr std::size_t most_threads = 1000;  // a stack is there until its future is asked
  if (task.load.pieces.size() > most_threads) {
    throw Unavailable("it would start more than 1000 threads at once");
  }
  return measure<StdAsync>(task);
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"limit.serial", measure<Here>}, {"peer.std_async", std_async}})(task);
}

}  // namespace handoff::lab::replay
