// SPDX-License-Identifier: MIT
// A queue that delivers its fifth event twice.
#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Doubles {
 public:
  explicit Doubles(const Task& /*task*/) {}
  template <class F>
  void listen(int key, F f) {
    functions_.listen(key, f);
  }
  void enqueue(int key, const Payload& payload) {
    waiting_.emplace_back(key, payload);
    if (payload.words[0] == 4) waiting_.emplace_back(key, payload);
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

Operation contender(const Task& task) { return measure<Doubles>(task); }

}  // namespace handoff::lab::events
