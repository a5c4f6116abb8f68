// SPDX-License-Identifier: MIT
// std::async with std::launch::async: a thread for each task.
#include <future>

#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

struct StdAsync {
  explicit StdAsync(std::size_t /*width*/) {}
  std::future<std::uint64_t> submit(Job job) { return std::async(std::launch::async, job); }
};

}  // namespace

Operation contender(const Task& task) {
  // A thread's stack is there until its future is asked.
  constexpr std::size_t most_threads = 1000;
  if (task.count > most_threads) throw Unavailable("it would start a thread for each task at once");
  return measure<StdAsync>(task);
}

}  // namespace handoff::lab::tasks
