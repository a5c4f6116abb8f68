// SPDX-License-Identifier: MIT
// What std::future costs by itself: a std::packaged_task made and called on the spot.
#include <future>

#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

struct Inline {
  explicit Inline(std::size_t /*width*/) {}
  std::future<std::uint64_t> submit(Job job) {
    std::packaged_task<std::uint64_t()> task(job);
    std::future<std::uint64_t> future = task.get_future();
    task();
    return future;
  }
};

}  // namespace

Operation contender(const Task& task) {
  // libstdc++ leaves out its atomic operations as long as there is one thread only.
  static std::jthread second([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  return measure<Inline>(task);
}

}  // namespace handoff::lab::tasks
