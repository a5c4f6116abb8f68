// SPDX-License-Identifier: MIT
// The least that a message needs: a bare ring for one producer and one consumer, in whose places
// messages are made and read. Where the consumer may sleep, its producer looks whether it does.
#include <atomic>
#include <cstddef>

#include "scenarios/messages/bare_ends.hpp"

namespace handoff::lab::messages {
namespace {

// Two threads each write, then read what the other one wrote: one of them sees it.
class Bell {
 public:
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) == 0) return;
    asleep_.store(0, std::memory_order_relaxed);
    asleep_.notify_one();
  }
  template <class There>
  void await(There&& there) {
    asleep_.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!there()) asleep_.wait(1, std::memory_order_relaxed);
    asleep_.store(0, std::memory_order_relaxed);
  }

 private:
  alignas(peers::kApart) std::atomic<int> asleep_{0};
};

template <class Message>
class Spinning : public BareEnds<Message> {
 public:
  explicit Spinning(const Task& /*task*/) {}
};

template <class Message>
class Sleeping : public BareEnds<Message> {
 public:
  explicit Sleeping(const Task& /*task*/) {}

  bool try_publish(const Content& content) {
    if (!BareEnds<Message>::try_publish(content)) return false;
    bell_.ring();
    return true;
  }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    const std::size_t made = BareEnds<Message>::try_publish_batch(first, count);
    if (made != 0) bell_.ring();
    return made;
  }
  template <class F>
  void await(F& /*f*/) {
    bell_.await([this] { return !this->empty() || closed_.load(std::memory_order_relaxed); });
  }
  void close() {
    closed_.store(true, std::memory_order_relaxed);
    bell_.ring();
  }

 private:
  Bell bell_;
  std::atomic<bool> closed_{false};
};

}  // namespace

Operation contender(const Task& task) {
  return task.sleeps ? measure<Sleeping>(task) : measure<Spinning>(task);
}

}  // namespace handoff::lab::messages
