// SPDX-License-Identifier: MIT
//
// Something of event/ that is made with its first use, and handed from owner to owner: so an empty
// list allocates nothing, and moving one does not throw.
//
// Not for: users. Concurrency: get() and made() by any threads; the rest as for any container.
#pragma once

#include <handoff/sync/internal/atomic.hpp>

namespace eventpp::internal {

// `Make()` gives a pointer, `End(pointer)` is its end.
template <class T, auto Make, auto End>
class Lazy {
  using order = handoff::sync::order;

 public:
  Lazy() noexcept = default;
  Lazy(Lazy&& other) noexcept : pointer_(other.release()) {}
  Lazy& operator=(Lazy&&) = delete;
  ~Lazy() { end(get()); }

  // Null: not made yet.
  T* get() const noexcept {
    return pointer_.load(order::acquire);  // order: acquire pairs with made()
  }

  T& made() {
    T* now = get();
    if (now != nullptr) return *now;
    T* const fresh = Make();
    // order: release pairs with get(); acquire, another thread may have been first.
    if (pointer_.compare_exchange_strong(now, fresh, order::acq_rel, order::acquire)) return *fresh;
    end(fresh);
    return *now;
  }

  void swap(Lazy& other) noexcept {
    T* const mine = release();
    pointer_.store(other.release(), order::relaxed);  // order: relaxed, nobody else looks now
    other.pointer_.store(mine, order::relaxed);       // order: relaxed, nobody else looks now
  }

 private:
  T* release() noexcept {
    // order: acq_rel, as for any reader and maker of it
    return pointer_.exchange(nullptr, order::acq_rel);
  }
  static void end(T* pointer) noexcept {
    if (pointer != nullptr) End(pointer);
  }

  handoff::sync::atomic<T*> pointer_{nullptr};
};

}  // namespace eventpp::internal
