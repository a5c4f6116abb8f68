// SPDX-License-Identifier: MIT
//
// Other people's queues in the words of the transfer suite, as far as they have what it asks for.
#pragma once

#include <concurrentqueue.h>
#include <readerwriterqueue.h>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "support/test.hpp"

namespace handoff::test {

// Many to many, unbounded, any type; order is kept per producer only. Is never closed.
template <class T>
class MoodycamelConcurrentQueue {
 public:
  explicit MoodycamelConcurrentQueue(std::size_t capacity) : queue_(capacity) {}

  Status try_push(T item) { return queue_.enqueue(std::move(item)) ? Status::ok : Status::full; }
  Status try_pop(T& out) { return queue_.try_dequeue(out) ? Status::ok : Status::empty; }

  std::size_t try_push_batch(std::span<T> items) {
    const auto first = std::make_move_iterator(items.begin());
    return queue_.enqueue_bulk(first, items.size()) ? items.size() : 0;
  }
  std::size_t try_pop_batch(std::span<T> out) {
    return queue_.try_dequeue_bulk(out.begin(), out.size());
  }

 private:
  moodycamel::ConcurrentQueue<T> queue_;
};

// One to one, any type.
template <class T>
class MoodycamelReaderWriterQueue {
 public:
  explicit MoodycamelReaderWriterQueue(std::size_t capacity) : queue_(capacity) {}

  std::size_t capacity() const { return queue_.max_capacity(); }
  Status try_push(T item) {
    return queue_.try_enqueue(std::move(item)) ? Status::ok : Status::full;
  }
  Status try_pop(T& out) { return queue_.try_dequeue(out) ? Status::ok : Status::empty; }

 private:
  moodycamel::ReaderWriterQueue<T> queue_;
};

// Many to many, trivial types only.
template <class T>
class BoostQueue {
 public:
  explicit BoostQueue(std::size_t capacity) : capacity_(capacity), queue_(capacity) {}

  std::size_t capacity() const { return capacity_; }
  Status try_push(const T& item) { return queue_.bounded_push(item) ? Status::ok : Status::full; }
  Status try_pop(T& out) { return queue_.pop(out) ? Status::ok : Status::empty; }

 private:
  const std::size_t capacity_;
  boost::lockfree::queue<T, boost::lockfree::fixed_sized<true>> queue_;
};

// One to one, types that can be copied.
template <class T>
class BoostSpscQueue {
 public:
  explicit BoostSpscQueue(std::size_t capacity) : capacity_(capacity), queue_(capacity) {}

  std::size_t capacity() const { return capacity_; }
  Status try_push(const T& item) { return queue_.push(item) ? Status::ok : Status::full; }
  Status try_pop(T& out) { return queue_.pop(out) ? Status::ok : Status::empty; }

  std::size_t try_push_batch(std::span<T> items) { return queue_.push(items.data(), items.size()); }
  std::size_t try_pop_batch(std::span<T> out) { return queue_.pop(out.data(), out.size()); }

  template <class Visitor>
  std::size_t consume(Visitor&& visitor, std::size_t most) {
    std::size_t count = 0;
    while (count < most && queue_.consume_one(visitor)) ++count;
    return count;
  }

 private:
  const std::size_t capacity_;
  boost::lockfree::spsc_queue<T> queue_;
};

}  // namespace handoff::test
