// SPDX-License-Identifier: MIT
// Listeners of queues that know none: functions by the number of their key, one each.
#pragma once

#include "scenarios/events/work.hpp"

namespace handoff::lab::events {

class FunctionTable {
 public:
  template <class F>
  void listen(int key, F f) {
    const auto index = static_cast<std::size_t>(key);
    if (functions_.size() <= index) functions_.resize(index + 1);
    functions_[index] = std::move(f);
  }
  void operator()(int key, const Payload& payload) const {
    functions_[static_cast<std::size_t>(key)](payload);
  }

 private:
  std::vector<std::function<void(const Payload&)>> functions_;
};

// What such queues derive from.
class CallsByIndex {
 public:
  template <class F>
  void listen(int key, F f) {
    functions_.listen(key, std::move(f));
  }

 protected:
  FunctionTable functions_;
};

}  // namespace handoff::lab::events
