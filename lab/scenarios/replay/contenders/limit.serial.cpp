// SPDX-License-Identifier: MIT
// Nothing is handed over: the caller runs each piece itself, as it comes.
#include <deque>
#include <functional>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

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

}  // namespace

Operation contender(const Task& task) { return measure<Here>(task); }

}  // namespace handoff::lab::replay
