// SPDX-License-Identifier: MIT
// The article's bus, whose one consumer computes all rows, whatever the width.
#include <atomic>
#include <memory>
#include <thread>
#include <variant>

#include "peers/seed_bus.hpp"
#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {
namespace {

class AsyncBus {
 public:
  explicit AsyncBus(const Task& task) : messages_(task) {
    bus_.subscribe<RowMessage>([this](const RowMessage& message) { messages_.compute(message); });
  }

  void run() {
    messages_.hand_over([this](const RowMessage& message) { return bus_.publish(message); });
  }

 private:
  void consume(const std::stop_token& stop) {
    for (peers::SeedBackoff backoff; !stop.stop_requested();) {
      if (bus_.process_batch() != 0) {
        backoff.reset();
      } else {
        backoff.wait();
      }
    }
  }

  RowMessages messages_;
  peers::SeedBus<std::variant<RowMessage>> bus_;
  std::jthread consumer_{[this](const std::stop_token& stop) { consume(stop); }};
};

}  // namespace

Operation contender(const Task& task) {
  return [bus = std::make_shared<AsyncBus>(task)] { bus->run(); };
}

}  // namespace handoff::lab::matmul
