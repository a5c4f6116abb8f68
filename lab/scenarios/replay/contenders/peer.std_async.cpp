// SPDX-License-Identifier: MIT
// std::async with std::launch::async: a thread for each piece.
#include <future>
#include <mutex>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

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

}  // namespace

Operation contender(const Task& task) {
  constexpr std::size_t most_threads = 1000;  // a stack is there until its future is asked
  if (task.load.pieces.size() > most_threads) {
    throw Unavailable("it would start more than 1000 threads at once");
  }
  return measure<StdAsync>(task);
}

}  // namespace handoff::lab::replay
