// SPDX-License-Identifier: MIT
// The least that an item needs on its way to another thread: a ring of a size that the compiler
// knows, for one producer and one consumer. Each looks at the other's index only if it has to.
#pragma once

#include "peers/threads.hpp"

namespace handoff::lab::peers {

template <class Item, std::size_t kCapacity = 1024>
class BareRing {
 public:
  // The producer's: how many places are free. It looks at the consumer's index only if those it
  // knows of are fewer than `wanted`.
  std::size_t room(std::size_t wanted) {
    return room_at(tail_.load(std::memory_order_relaxed), wanted);
  }

  // Makes the item in its place with make(item); false while the ring is full.
  template <class Make>
  bool try_push(Make&& make) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (room_at(tail, 1) == 0) return false;
    make(items_[tail % kCapacity]);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Makes the first of `count` items with make(item, which), as many as have room, and lets the
  // consumer see them all at once; how many that were.
  template <class Make>
  std::size_t try_push_batch(std::size_t count, Make&& make) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    const std::size_t made = std::min(count, room_at(tail, count));
    if (made == 0) return 0;  // without a store, which would take the line from the consumer
    for (std::size_t i = 0; i < made; ++i) make(items_[(tail + i) % kCapacity], i);
    tail_.store(tail + made, std::memory_order_release);
    return made;
  }

  // The consumer's: whether there is none.
  bool empty() { return items_at(head_.load(std::memory_order_relaxed), 1) == 0; }

  // Calls take(item) on the item in its place; false while there is none.
  template <class Take>
  bool try_pop(Take&& take) {
    return try_pop_batch(take, 1) != 0;
  }

  // Calls take(item) on the items that are there, at most `most`, and gives their places back at
  // once; how many that were.
  template <class Take>
  std::size_t try_pop_batch(Take&& take, std::size_t most) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    const std::size_t taken = std::min(most, items_at(head, most));
    if (taken == 0) return 0;
    for (std::size_t i = 0; i < taken; ++i) take(items_[(head + i) % kCapacity]);
    head_.store(head + taken, std::memory_order_release);
    return taken;
  }

 private:
  std::size_t room_at(std::size_t tail, std::size_t wanted) {
    if (kCapacity - (tail - seen_head_) < wanted) {
      seen_head_ = head_.load(std::memory_order_acquire);
    }
    return kCapacity - (tail - seen_head_);
  }
  std::size_t items_at(std::size_t head, std::size_t wanted) {
    if (seen_tail_ - head < wanted) seen_tail_ = tail_.load(std::memory_order_acquire);
    return seen_tail_ - head;
  }

  alignas(kApart) std::atomic<std::size_t> tail_{0};
  std::size_t seen_head_ = 0;
  alignas(kApart) std::atomic<std::size_t> head_{0};
  std::size_t seen_tail_ = 0;
  alignas(kApart) std::array<Item, kCapacity> items_{};
};

}  // namespace handoff::lab::peers
