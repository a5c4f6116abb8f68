// SPDX-License-Identifier: MIT
// What needs no library.
#include "peers/bare_ring.hpp"
#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

// The least that a message needs: a bare ring for one producer and one consumer, which knows its
// size and cannot be closed.
class Ring {
 public:
  explicit Ring(const Task& /*task*/) {}

  bool try_push(const Message& message) {
    return ring_.try_push([&](Message& place) { place = message; });
  }
  bool try_pop(Message& message) {
    return ring_.try_pop([&](const Message& place) { message = place; });
  }

 private:
  peers::BareRing<Message, capacity> ring_;
};

// What people write without a library: a std::deque behind a mutex, a condition variable for those
// who wait for a message, and one for those who wait for room.
class MutexQueue {
 public:
  explicit MutexQueue(const Task& /*task*/) {}

  void push(const Message& message) {
    {
      std::unique_lock lock(mutex_);
      not_full_.wait(lock, [this] { return messages_.size() < capacity; });
      messages_.push_back(message);
    }
    not_empty_.notify_one();
  }
  void pop(Message& message) {
    {
      std::unique_lock lock(mutex_);
      not_empty_.wait(lock, [this] { return !messages_.empty(); });
      message = messages_.front();
      messages_.pop_front();
    }
    not_full_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::deque<Message> messages_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"limit.ring", measure<Ring>}, {"peer.mutex_queue", measure<MutexQueue>}})(task);
}

}  // namespace handoff::lab::channels
