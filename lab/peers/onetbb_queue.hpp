// SPDX-License-Identifier: MIT
// oneTBB's bounded queue: any number of threads, polled or asleep. It has no batches.
#pragma once

#include <tbb/concurrent_queue.h>

#include "harness/standard.hpp"

namespace handoff::lab::peers {

template <class Item, std::size_t kCapacity>
class OneTbbQueue {
 public:
  explicit OneTbbQueue(const auto& /*task*/) { queue_.set_capacity(kCapacity); }

  void push(const Item& item) { queue_.push(item); }
  void pop(Item& item) { queue_.pop(item); }
  bool try_push(const Item& item) { return queue_.try_push(item); }
  bool try_pop(Item& item) { return queue_.try_pop(item); }
  template <class F>
  void await(F& f) {
    try {
      Item item{};
      queue_.pop(item);
      f(item);
    } catch (const tbb::user_abort&) {
    }
  }
  void close() { queue_.abort(); }

 private:
  tbb::concurrent_bounded_queue<Item> queue_;
};

}  // namespace handoff::lab::peers
