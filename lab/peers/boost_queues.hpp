// SPDX-License-Identifier: MIT
// The queues of Boost.Lockfree: one for any number of threads, with nodes that are there from the
// start, and a ring for one producer and one consumer, which has batches. They have no way to
// sleep.
#pragma once

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "harness/standard.hpp"

namespace handoff::lab::peers {

template <class Item, std::size_t kCapacity>
class BoostQueue {
 public:
  explicit BoostQueue(const auto& /*task*/) {}

  bool try_push(const Item& item) { return queue_.push(item); }
  bool try_pop(Item& item) { return queue_.pop(item); }

 private:
  boost::lockfree::queue<Item, boost::lockfree::capacity<kCapacity>> queue_;
};

template <class Item, std::size_t kCapacity>
class BoostRing {
 public:
  explicit BoostRing(const auto& /*task*/) {}

  bool try_push(const Item& item) { return ring_.push(item); }
  bool try_pop(Item& item) { return ring_.pop(item); }
  std::size_t try_push_batch(std::span<Item> items) {
    return ring_.push(items.data(), items.size());
  }
  template <class F>
  std::size_t visit(F& f) {
    return ring_.consume_all(f);
  }

 private:
  boost::lockfree::spsc_queue<Item, boost::lockfree::capacity<kCapacity>> ring_;
};

}  // namespace handoff::lab::peers
