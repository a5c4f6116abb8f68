// SPDX-License-Identifier: MIT
// For tests: a queue that takes its fifth event so many times instead of once.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {

template <std::size_t kTimes>
class MiscountingQueue : public CallsByIndex {
 public:
  explicit MiscountingQueue(const Task& /*task*/) {}
  void enqueue(int key, const Payload& payload) {
    const std::size_t times = payload.words[0] == 4 ? kTimes : 1;
    waiting_.insert(waiting_.end(), times, {key, payload});
  }
  void process() {
    for (const auto& [key, payload] : waiting_) functions_(key, payload);
    waiting_.clear();
  }

 private:
  std::vector<std::pair<int, Payload>> waiting_;
};

}  // namespace handoff::lab::events
