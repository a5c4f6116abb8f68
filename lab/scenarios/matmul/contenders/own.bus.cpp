// SPDX-License-Identifier: MIT
// This library's bus, whose one consumer computes all rows, whatever the width: a bus is for one
// thread that owns a state, not for sharing out work.
#include <memory>
#include <thread>

#include <handoff/bus/message_bus.hpp>

#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {
namespace {

class OwnBus {
 public:
  explicit OwnBus(const Task& task) : messages_(task) {}
  ~OwnBus() { bus_.shut(); }
  OwnBus(const OwnBus&) = delete;
  OwnBus& operator=(const OwnBus&) = delete;

  void run() {
    messages_.hand_over(
        [this](const RowMessage& message) { return bus_.publish(message) == Status::ok; });
  }

 private:
  void consume() {
    while (bus_.wait() == Status::ok) {
      bus_.drain([this](const RowMessage& message) { messages_.compute(message); });
    }
  }

  RowMessages messages_;
  MessageBus<RowMessage> bus_;
  std::jthread consumer_{[this] { consume(); }};
};

}  // namespace

Operation contender(const Task& task) {
  return [bus = std::make_shared<OwnBus>(task)] { bus->run(); };
}

}  // namespace handoff::lab::matmul
