// SPDX-License-Identifier: MIT
//
// A result for many readers.
//
//   handoff::SharedFuture<Config> config = pool.submit(load, path).share();
//   for (Part& part : parts) pool.post([config, &part] { part.set_up(config.get()); });
//
// For: a result that several threads or tasks want, now or later. Not for: one reader (Future,
// which gives the result away), results that change (Latest).
//
// Contract: executor tier.
// - Concurrency: thread-safe, like a std::shared_ptr: each copy belongs to one thread at a time,
//   and copies of one result may be used at once.
// - Order, waits, waits inside tasks: as Future. Of several tasks that wait for one result, one
//   runs what nobody has begun; a stand-in works for the others (pool/blocking.hpp).
// - The result lives until the last copy ends, on the thread that ends it.
// - Blocks: wait() and get(). Allocates: share() once; copies nothing.
// - Exceptions: as Future; what the task threw is rethrown to each reader. An empty one is misuse.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class R>
class SharedFuture {
 public:
  using value_type = R;

  SharedFuture() noexcept = default;  // empty
  // Takes the Future; an empty one is misuse.
  explicit SharedFuture(Future<R>&& future) {
    (void)future.is_ready();
    shared_ = detail::RawBox<Shared>().make(future);
  }
  SharedFuture(const SharedFuture& other) noexcept : shared_(other.shared_) {
    // order: relaxed, the other one keeps it.
    if (shared_ != nullptr) shared_->copies.fetch_add(1, sync::order::relaxed);
  }
  SharedFuture(SharedFuture&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SharedFuture& operator=(SharedFuture other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SharedFuture() {
    // order: acq_rel, the end of the result comes after what all readers did with it.
    if (shared_ != nullptr && shared_->copies.fetch_sub(1, sync::order::acq_rel) == 1) {
      detail::RawBox<Shared>::destroy(shared_);
    }
  }

  // False while it is empty, and once it was moved from.
  [[nodiscard]] bool valid() const noexcept { return shared_ != nullptr; }
  // Whether get() would give the result, or throw, at once.
  [[nodiscard]] bool is_ready() const { return state().is_ready(); }

  // Until the result is ready.
  void wait() const { (void)state().wait(sync::no_deadline, {}); }
  // ok, timed_out or stopped.
  Status wait(const Until& until) const {
    if (state().is_ready()) return Status::ok;
    return state().wait(until.deadline(), until.stop_token());
  }

  // The result itself, as long as a copy of this lives; what a Future of a reference has.
  std::add_lvalue_reference_t<std::add_const_t<R>> get() const {
    wait();
    if (state().has_failed()) state().rethrow();
    if constexpr (!std::is_void_v<R>) return state().result();
  }

 private:
  struct Shared {
    explicit Shared(Future<R>& future) : state(detail::FutureAccess::release(future)) {}
    const detail::StateOwner<R> state;
    sync::atomic<std::size_t> copies{1};
  };

  detail::FutureResult<R>& state() const {
    if (shared_ == nullptr) misuse("SharedFuture: an empty one was used; see valid()");
    return *shared_->state;
  }

  Shared* shared_ = nullptr;
};

template <class R>
auto Future<R>::share() && {
  return SharedFuture<R>(std::move(*this));
}

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
