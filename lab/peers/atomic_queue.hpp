// SPDX-License-Identifier: MIT
// atomic_queue's ring for items of any type, perhaps in its form for one thread on each side.
#pragma once

#include <atomic_queue/atomic_queue.h>

#include "harness/standard.hpp"

namespace handoff::lab::peers {

template <class Item, std::size_t kCapacity, bool kOneEach>
class AtomicQueue {
 public:
  // One that pushes may be overtaken by itself: while it is held up in its place, and one that pops
  // waits there, a push a round later may fill that place first.
  static constexpr bool unordered = !kOneEach;

  explicit AtomicQueue(const auto& /*task*/) {}

  bool try_push(const Item& item) { return queue_.try_push(item); }
  bool try_pop(Item& item) { return queue_.try_pop(item); }

 private:
  static constexpr bool kLittleContention = true;
  static constexpr bool kThroughput = true;
  static constexpr bool kTotalOrder = false;
  atomic_queue::AtomicQueue2<Item, kCapacity, kLittleContention, kThroughput, kTotalOrder, kOneEach>
      queue_;
};

}  // namespace handoff::lab::peers
