// SPDX-License-Identifier: MIT
// A queue that loses its fifth event.
#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Drops {
 public:
  explicit Drops(const Task& /*task*/) {}
  template <class F>
  void listen(int key, F f) {
    functions_.listen(key, f);
  }
  void enqueue(int key, const Payload& payload) {
    if (payload.words[0] != 4) waiting_.emplace_back(key, payload);
  }
  void process() {
    for (const auto& [key, payload] : waiting_) functions_(key, payload);
    waiting_.clear();
  }

 private:
  FunctionTable functions_;
  std::vector<std::pair<int, Payload>> waiting_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Drops>(task); }

}  // namespace handoff::lab::events
