// SPDX-License-Identifier: MIT
// Boost.Lockfree: its ring for one producer and one consumer, which has batches, and for others its
// queue, whose nodes are there from the start. They have no way to sleep.
#include <cstddef>
#include <span>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class OneEach {
 public:
  explicit OneEach(const Task& /*task*/) {}

  bool try_push(const Message& message) { return ring_.push(message); }
  std::size_t try_push_batch(std::span<Message> messages) {
    return ring_.push(messages.data(), messages.size());
  }
  template <class F>
  std::size_t visit(F& f) {
    return ring_.consume_all(f);
  }

 private:
  boost::lockfree::spsc_queue<Message, boost::lockfree::capacity<capacity>> ring_;
};

template <class Message>
class Many {
 public:
  explicit Many(const Task& /*task*/) {}

  bool try_push(const Message& message) { return queue_.push(message); }
  bool try_pop(Message& message) { return queue_.pop(message); }

 private:
  boost::lockfree::queue<Message, boost::lockfree::capacity<capacity>> queue_;
};

}  // namespace

Operation contender(const Task& task) {
  return task.one_each() ? measure<OneEach>(task) : measure<Many>(task);
}

}  // namespace handoff::lab::messages
