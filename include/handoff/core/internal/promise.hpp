// SPDX-License-Identifier: MIT
//
// The maker's side of a Future whose result no task makes: an operation of the kernel, another
// process, a message. Not for users, who get the Future.
//
//   Future<std::size_t> future;
//   Promise<std::size_t> promise(future);    // allocates once
//   ...
//   promise.set_value(bytes);                // or set_exception(), drop(), or ~Promise()
//
// An operation that is allocated anyway derives from OwedResult instead, and holds the result.
// Concurrency: a promise belongs to one thread at a time; the Future may be another one's. What
// follows the result runs in the call that sets it. A task that waits for it lends its worker
// (future.hpp).
// Order: what came before the call happens before what the Future's get() returns.
// Blocks: never. Throws: only the constructor, std::bad_alloc.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The state of such a result. One of the three calls, once, ends the maker's share. What derives
// from it overrides destroy().
template <class R>
class OwedResult : public FutureResult<R> {
 public:
  // The result is what make() returns, or what it throws.
  template <class Make>
  void deliver(Make&& make) noexcept {
    (void)this->keep(make);
    this->finish();
  }
  void fail(std::exception_ptr error) noexcept {
    this->set_error(std::move(error));
    this->finish();
  }
  // There is no result: get() throws NotRun. `why`: stopped or timed_out.
  void drop(Status why) noexcept {
    this->set_not_run(why);
    this->finish();
  }

 protected:
  explicit OwedResult(FutureHost* host = nullptr) noexcept
      : FutureResult<R>(FutureState::ComesByItself{host}) {}
  ~OwedResult() = default;
};

template <class R>
class Promise {
 public:
  Promise() noexcept = default;  // empty
  explicit Promise(Future<R>& future) : owed_(RawBox<Owed>().make()) {
    future = FutureAccess::make<R>(owed_.get());
  }

  // False once it was kept or dropped.
  [[nodiscard]] bool is_owed() const noexcept { return owed_ != nullptr; }

  // One of these, once.
  void set_value() noexcept
    requires std::is_void_v<R>
  {
    owed_.release()->deliver([] {});
  }
  template <class Value>
    requires std::is_convertible_v<Value, R>
  void set_value(Value&& value) noexcept {
    owed_.release()->deliver([&value]() -> R { return std::forward<Value>(value); });
  }
  void set_exception(std::exception_ptr error) noexcept { owed_.release()->fail(std::move(error)); }
  void drop(Status why) noexcept { owed_.release()->drop(why); }

 private:
  struct Owed final : OwedResult<R> {
    void destroy() noexcept override { RawBox<Owed>::destroy(this); }
  };
  struct Drop {
    void operator()(Owed* owed) const noexcept { owed->drop(Status::stopped); }
  };
  std::unique_ptr<Owed, Drop> owed_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
