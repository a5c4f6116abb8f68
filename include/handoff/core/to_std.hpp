// SPDX-License-Identifier: MIT
//
// A Future's result as a std::future, for code that knows no other.
//
//   std::future<int> f = pool.submit(work).to_std();   // of any Future, also after then()
//
// For: interfaces that ask for a std::future. Not for: waiting inside a task, since a std::future
// does not help: a task that waits for it holds up its worker, for ever if what it waits for is
// queued behind it. Let it wait in blocking(). A task that is handed over for a std::future alone
// is cheaper by submit_std() (pool/submit_std.hpp).
// A header of its own, because <future> is large.
//
// Contract: executor tier.
// - Concurrency, order: as Future. The std::future becomes ready on the thread that made the
//   result, or here and now.
// - Blocks: never. Unlike one from std::async, the std::future's destructor does not either.
// - Allocates: the promise and what leads to it; std::bad_alloc: the Future is as it was.
// - A task that was dropped gives NotRun.
// - Exceptions: what the task threw is the std::future's. An empty Future is misuse.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/sync/internal/std_future.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// Waits for a Future's state on behalf of a std::future.
template <class R>
struct StdPassage {
  sync::StdPromise<R> promise;
  StateOwner<R> before;

  static FutureState::Next call(void* self) noexcept {
    sync::taken(self);
    const std::unique_ptr<StdPassage> passage(static_cast<StdPassage*>(self));
    if (passage->before->has_failed()) {
      passage->promise.set_exception(passage->before->failure());
    } else {
      passage->keep();
    }
    return {};
  }

 private:
  void keep() noexcept {
    (void)attempt([this] { set(); },
                  [this]() noexcept { promise.set_exception(std::current_exception()); });
  }
  void set() {
    if constexpr (std::is_void_v<R>) {
      promise.set_value();
    } else {
      promise.set_value(before->take());
    }
  }
};

}  // namespace detail

template <class R>
auto Future<R>::to_std() && {
  detail::FutureResult<R>& before = state();
  auto passage = std::make_unique<detail::StdPassage<R>>();
  sync::StdFuture<R> future = passage->promise.get_future();
  passage->before = detail::FutureAccess::release(*this);
  sync::given(passage.get());
  before.continue_with({&detail::StdPassage<R>::call, passage.release()});
  return future;
}

}}  // namespace handoff::HANDOFF_ABI
