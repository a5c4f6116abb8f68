// SPDX-License-Identifier: MIT
//
// What EventQueue and HeterEventQueue share: the events beside a dispatcher, and waiting for them.
//
// Not for: users. Concurrency: as EventQueue.
#pragma once

#include <chrono>
#include <utility>

namespace eventpp::internal {

template <class Dispatcher, class Store>
class QueueBody : public Dispatcher {
 public:
  // Whether there is neither an event in the queue nor one being handled.
  bool emptyQueue() const { return store_.idle(); }
  void clearEvents() { store_.clear(); }

  // Until there is an event to process and nobody holds notifications back.
  void wait() const { store_.wait(); }
  // The same for so long at most; then whether nobody does and the queue is not empty, as
  // emptyQueue() says.
  template <class Rep, class Period>
  bool waitFor(const std::chrono::duration<Rep, Period>& time) const {
    return store_.wait_for(time);
  }

  // While one of these lives enqueue() wakes no thread, and no waiting thread sees events.
  class DisableQueueNotify {
   public:
    explicit DisableQueueNotify(QueueBody* queue) : hold_(queue->store_) {}

   private:
    typename Store::Hold hold_;
  };

  // The listeners are copied and moved, the events never.
  QueueBody() = default;
  QueueBody(const QueueBody& other) : Dispatcher(other) {}
  QueueBody(QueueBody&& other) noexcept : Dispatcher(std::move(other)) {}
  QueueBody& operator=(const QueueBody& other) {
    Dispatcher::operator=(other);
    return *this;
  }
  QueueBody& operator=(QueueBody&& other) noexcept {
    Dispatcher::operator=(std::move(other));
    return *this;
  }

 protected:
  mutable Store store_;
};

}  // namespace eventpp::internal
