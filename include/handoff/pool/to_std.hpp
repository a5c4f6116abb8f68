// SPDX-License-Identifier: MIT
//
// Future::to_std(): the result as a std::future, for code that knows no other.
//
//   std::future<int> f = pool.submit(work).to_std();
//
// For: interfaces that ask for a std::future. Not for: waiting inside a task, since a std::future
// does not help: a task that waits for it holds up its worker.
// A header of its own, because <future> is large.
//
// Contract: executor tier.
// - Concurrency, order: as Future. The std::future becomes ready on the thread that made the
//   result, or here and now.
// - Blocks: never. Unlike one from std::async, the std::future's destructor does not either.
// - Allocates: twice, the promise and what leads to it; std::bad_alloc: the Future is as it was.
// - Closed: a task that was dropped gives NotRun.
// - Exceptions: what the task threw is the std::future's. An empty Future is misuse.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/pool/future.hpp>
#include <handoff/sync/std_future.hpp>

namespace handoff::inline HANDOFF_ABI {

namespace detail {

// Waits for a Future's state on behalf of a std::future.
template <class R>
struct StdPassage {
  sync::StdPromise<R> promise;
  StateOwner<R> before;

  static void call(void* self) noexcept {
    const std::unique_ptr<StdPassage> passage(static_cast<StdPassage*>(self));
    try {
      if constexpr (std::is_void_v<R>) {
        passage->before->take();
        passage->promise.set_value();
      } else {
        passage->promise.set_value(passage->before->take());
      }
    } catch (...) {
      passage->promise.set_exception(std::current_exception());
    }
  }
};

}  // namespace detail

template <class R>
auto Future<R>::to_std() && {
  detail::FutureResult<R>& before = state();
  auto passage = std::make_unique<detail::StdPassage<R>>();
  sync::StdFuture<R> future = passage->promise.get_future();
  passage->before.reset(std::exchange(state_, nullptr));  // its share is the passage's now
  before.continue_with({&detail::StdPassage<R>::call, passage.release()});
  return future;
}

}  // namespace handoff::inline HANDOFF_ABI
