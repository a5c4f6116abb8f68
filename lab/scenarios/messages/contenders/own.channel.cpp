// SPDX-License-Identifier: MIT
// This library's channel: any number of threads, polled or asleep.
#include <handoff/queue/channel.hpp>

#include "scenarios/messages/own_queue.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class OwnChannel : public OwnQueue<Channel<Message>> {
 public:
  using OwnQueue<Channel<Message>>::OwnQueue;

  template <class F>
  void await(F& f) {
    Message message{};
    if (this->queue_.pop(message) == Status::ok) f(message);
  }
  void close() { this->queue_.close(); }
};

}  // namespace

Operation contender(const Task& task) { return measure<OwnChannel>(task); }

}  // namespace handoff::lab::messages
