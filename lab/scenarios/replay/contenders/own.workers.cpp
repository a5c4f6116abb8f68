// SPDX-License-Identifier: MIT
// This library's message workers: each piece is a message, and whichever worker is free handles it.
#include <cstddef>
#include <functional>

#include <handoff/bus/message_workers.hpp>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

struct Message {
  std::function<void()> job;  // fits into it
};

class Workers {
 public:
  explicit Workers(std::size_t threads)
      : workers_({.width = threads}, [](const Message& message) { message.job(); }) {}

  // Waits where too many messages are under way: the load is late then, and its latencies say so.
  template <class F>
  void execute(F job) {
    static_cast<void>(workers_.publish(Message{job}));
  }

 private:
  MessageWorkers<Message> workers_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Workers>(task); }

}  // namespace handoff::lab::replay
