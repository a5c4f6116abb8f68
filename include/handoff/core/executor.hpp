// SPDX-License-Identifier: MIT
//
// Executor: a type that calls the functions it is given. Code that runs functions elsewhere takes
// an Executor and need not know of pools.
//
//   class Reactor {  // a model of it
//    public:
//     template <class F>
//     handoff::Status try_post(F&& function) {
//       const std::lock_guard lock(mutex_);
//       if (stopped_) return handoff::Status::closed;  // function is untouched
//       functions_.emplace_back(std::forward<F>(function));
//       return handoff::Status::ok;
//     }
//     std::size_t width() const { return 1; }
//
//    private:
//     std::mutex mutex_;
//     bool stopped_ = false;
//     std::vector<handoff::UniqueFunction<void()>> functions_;  // its thread calls them
//   };
//
// What a model promises:
// - try_post(function) takes any function that can be moved and called without arguments. `ok`: it
//   is called once, sooner or later, on any thread, this one too, also before try_post() returns;
//   or it is destroyed uncalled if the executor ends without it. Any other Status is a refusal: the
//   function was not touched and is still the caller's. The same if try_post() throws. So it takes
//   the function by reference: a parameter by value has moved it already, and what is moved and
//   then refused is lost (a strand's tasks are cancelled). A post(function), which a strand uses
//   where there is one, promises the same, but throws where try_post() would refuse.
// - What came before try_post() happens before the call.
// - try_post() may be called by any thread, and by the functions it calls.
// - width(): how many functions may run at the same moment.
// What it does not promise: that functions run in some order, that one ever runs, or what becomes
// of an exception that leaves one.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
// The least that an executor must take: it can be moved and called, and nothing else.
struct MovableFunction {
  MovableFunction(MovableFunction&&) noexcept;
  MovableFunction& operator=(MovableFunction&&) noexcept;
  ~MovableFunction();
  void operator()();
};
}  // namespace detail

template <class E>
concept Executor = requires(E& executor, const E& same, detail::MovableFunction function) {
  { executor.try_post(std::move(function)) } -> std::same_as<Status>;
  { same.width() } -> std::convertible_to<std::size_t>;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
