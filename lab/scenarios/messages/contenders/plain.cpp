// SPDX-License-Identifier: MIT
// What needs no library.
#include "peers/bare_ring.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

// A bare ring in `messages`: messages are made and read in its places.
template <class Message>
class BareEnds {
 public:
  bool try_publish(const Content& content) {
    return ring_.try_push([&](Message& place) { place.write(content); });
  }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    return ring_.try_push_batch(
        count, [&](Message& place, std::size_t which) { place.write(first.after(which)); });
  }
  template <class F>
  std::size_t visit(F& f) {
    return ring_.try_pop_batch(f, batch);
  }

  std::size_t room(std::size_t wanted) { return ring_.room(wanted); }
  bool empty() { return ring_.empty(); }

 private:
  peers::BareRing<Message, capacity> ring_;
};

// The least that a message needs: a bare ring for one producer and one consumer, in whose places
// messages are made and read. Where the consumer may sleep, its producer looks whether it does.
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

Operation ring(const Task& task) {
  return task.sleeps ? measure<Sleeping>(task) : measure<Spinning>(task);
}

// The least that a broadcast needs where nobody shares a ring: a bare one for each consumer, in
// which the producer makes each message once more.
template <class Message>
class Rings {
 public:
  explicit Rings(const Task& task) : rings_(task.consumers) {}

  bool try_publish(const Content& content) {
    if (room(1) == 0) return false;
    for (auto& ring : rings_) ring.try_publish(content);
    return true;
  }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    const std::size_t made = std::min(count, room(count));
    for (auto& ring : rings_) ring.try_publish_batch(first, made);
    return made;
  }
  BareEnds<Message>& consumer(std::size_t which) { return rings_[which]; }

 private:
  std::size_t room(std::size_t wanted) {
    std::size_t least = wanted;
    for (auto& ring : rings_) least = std::min(least, ring.room(wanted));
    return least;
  }

  std::vector<BareEnds<Message>> rings_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"limit.ring", ring}, {"limit.three_rings", measure<Rings>}})(task);
}

}  // namespace handoff::lab::messages
