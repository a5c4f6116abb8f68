// SPDX-License-Identifier: MIT
// The least that an item needs on its way to another thread: a ring of a size that the compiler
// knows, for one producer and one consumer. Each looks at the other's index only if it has to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace handoff::lab::peers {

template <class Item, std::size_t kCapacity = 1024>
class BareRing {
 public:
  // Makes the item in its place with make(item); false while the ring is full.
  template <class Make>
  bool try_push(Make&& make) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - seen_head_ == kCapacity) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (tail - seen_head_ == kCapacity) return false;
    }
    make(items_[tail % kCapacity]);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Calls take(item) on the item in its place; false while there is none.
  template <class Take>
  bool try_pop(Take&& take) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == seen_tail_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head == seen_tail_) return false;
    }
    take(items_[head % kCapacity]);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t kApart = 128;  // two lines, which some processors fetch together

  alignas(kApart) std::atomic<std::size_t> tail_{0};
  std::size_t seen_head_ = 0;
  alignas(kApart) std::atomic<std::size_t> head_{0};
  std::size_t seen_tail_ = 0;
  alignas(kApart) std::array<Item, kCapacity> items_{};
};

}  // namespace handoff::lab::peers
