// SPDX-License-Identifier: MIT
// What people write without a library: a vector of functions behind a mutex, which is held while
// they are called. A listener that adds another one would wait for itself.
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {
namespace {

class Functions {
 public:
  using Function = std::function<void(const Payload&)>;

  void add(Function function) {
    const std::lock_guard lock(mutex_);
    functions_.push_back(std::move(function));
  }
  void call(const Payload& payload) {
    const std::lock_guard lock(mutex_);
    for (const Function& function : functions_) function(payload);
  }

 private:
  std::mutex mutex_;
  std::vector<Function> functions_;
};

}  // namespace

Operation contender(const Task& task) {
  const auto functions = std::make_shared<Functions>();
  for (std::size_t i = 0; i < task.listeners; ++i) {
    functions->add([i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
  return [&task, functions](Burst&) {
    run_passes(task, [&](const Payload& payload) { functions->call(payload); });
  };
}

}  // namespace handoff::lab::events
