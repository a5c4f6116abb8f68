// SPDX-License-Identifier: MIT
// atomic_queue's ring for items of any type, perhaps in its form for one thread on each side.
#pragma once

#include <cstddef>

#include <atomic_queue/atomic_queue.h>

namespace handoff::lab::peers {

template <class Item, std::size_t kCapacity, bool kOneEach>
class AtomicQueue {
 public:
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
