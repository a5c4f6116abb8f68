// SPDX-License-Identifier: MIT
// This library's message workers: a consumer is a worker. A message without a key has no order, and
// each is published by itself.
#include <chrono>
#include <optional>

#include <handoff/bus/message_workers.hpp>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class Workers {
 public:
  static constexpr bool unordered = true;

  explicit Workers(const Task& task)
      : options_{.width = task.consumers,
                 .capacity = capacity,
                 .spin_for = task.sleeps ? std::chrono::nanoseconds(patience)
                                         : std::chrono::nanoseconds::max()} {}

  // Made here and moved in.
  bool try_publish(const Content& content) {
    return workers_->try_publish(Message(content)) == Status::ok;
  }
  template <class F>
  void listen(F f) {
    workers_.emplace(options_, f);
  }
  void close() { workers_.reset(); }

 private:
  const MessageWorkersOptions options_;
  std::optional<MessageWorkers<Message>> workers_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Workers>(task); }

}  // namespace handoff::lab::messages
