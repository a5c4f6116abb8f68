// SPDX-License-Identifier: MIT
// A vector of functions, called one after the other: no thread may add or remove. Its queue is a
// vector too.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class VectorQueue : public CallsByIndex {
 public:
  explicit VectorQueue(const Task& /*task*/) {}

  void enqueue(int key, const Payload& payload) { waiting_.emplace_back(key, payload); }
  template <class Visitor>
  void visit(Visitor&& visitor) {
    for (const auto& [key, payload] : waiting_) visitor(key, payload);
    waiting_.clear();
  }
  void process() { visit(functions_); }

 private:
  std::vector<std::pair<int, Payload>> waiting_;
};

}  // namespace

Operation contender(const Task& task) {
  if (task.metric != "invoke") return measure<VectorQueue>(task);
  const auto functions = std::make_shared<std::vector<std::function<void(const Payload&)>>>();
  for (std::size_t i = 0; i < task.listeners; ++i) {
    functions->emplace_back([i, sum = task.sum](const Payload& p) { *sum += heard(i, p); });
  }
  return [&task, functions](Burst&) {
    run_passes(task, [&](const Payload& payload) {
      for (const auto& function : *functions) function(payload);
    });
  };
}

}  // namespace handoff::lab::events
