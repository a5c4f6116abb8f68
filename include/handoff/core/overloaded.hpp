// SPDX-License-Identifier: MIT
//
// Several functions as one, chosen by the type of what it is called with: a visitor.
//
//   const auto print = handoff::overloaded{[](int number) { ... }, [](const char* text) { ... }};
//   print(7);
//
// For: draining a message bus, the handlers of MessageWorkers, std::visit.
// Takes whatever can be called. Function objects overload each other as their call operators do,
// functions and pointers to member functions by their parameters. Two objects of final classes, or
// pointers to data members, that take the same thing are ambiguous.
// Concurrency, throws: as the functions.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// What can be called and can be no base class, as a base class.
template <class F>
struct HeldFunction {
  template <class... Args>
    requires std::is_invocable_v<F&, Args...>
  constexpr decltype(auto) operator()(Args&&... args) noexcept(
      std::is_nothrow_invocable_v<F&, Args...>) {
    return detail::invoke(function, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::is_invocable_v<const F&, Args...>
  constexpr decltype(auto) operator()(Args&&... args) const
      noexcept(std::is_nothrow_invocable_v<const F&, Args...>) {
    return detail::invoke(function, std::forward<Args>(args)...);
  }

  constexpr HeldFunction(F held)  // NOLINT(google-explicit-constructor): in place of the F
      noexcept(std::is_nothrow_move_constructible_v<F>)
      : function(std::move(held)) {}

  F function;
};

// One whose parameters are known.
template <class F, class R, class... Args>
struct HeldSignature {
  constexpr HeldSignature(F held) noexcept  // NOLINT(google-explicit-constructor): as above
      : function(held) {}
  constexpr R operator()(Args... args) const {
    return detail::invoke(function, std::forward<Args>(args)...);
  }

  F function;
};

template <class R, class... Args>
struct HeldFunction<R (*)(Args...)> : HeldSignature<R (*)(Args...), R, Args...> {
  using HeldSignature<R (*)(Args...), R, Args...>::HeldSignature;
};
template <class R, class... Args>
struct HeldFunction<R (*)(Args...) noexcept> : HeldSignature<R (*)(Args...) noexcept, R, Args...> {
  using HeldSignature<R (*)(Args...) noexcept, R, Args...>::HeldSignature;
};
template <class C, class R, class... Args>
struct HeldFunction<R (C::*)(Args...)> : HeldSignature<R (C::*)(Args...), R, C&, Args...> {
  using HeldSignature<R (C::*)(Args...), R, C&, Args...>::HeldSignature;
};
template <class C, class R, class... Args>
struct HeldFunction<R (C::*)(Args...) const>
    : HeldSignature<R (C::*)(Args...) const, R, const C&, Args...> {
  using HeldSignature<R (C::*)(Args...) const, R, const C&, Args...>::HeldSignature;
};
template <class C, class R, class... Args>
struct HeldFunction<R (C::*)(Args...) noexcept>
    : HeldSignature<R (C::*)(Args...) noexcept, R, C&, Args...> {
  using HeldSignature<R (C::*)(Args...) noexcept, R, C&, Args...>::HeldSignature;
};
template <class C, class R, class... Args>
struct HeldFunction<R (C::*)(Args...) const noexcept>
    : HeldSignature<R (C::*)(Args...) const noexcept, R, const C&, Args...> {
  using HeldSignature<R (C::*)(Args...) const noexcept, R, const C&, Args...>::HeldSignature;
};

template <class F>
using OverloadOf =
    std::conditional_t<std::is_class_v<F> && !std::is_final_v<F>, F, HeldFunction<F>>;

}  // namespace detail

// Made as above; it copies or moves the functions.
template <class... Functions>
struct overloaded : Functions... {  // NOLINT(readability-identifier-naming): the usual name
  using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<detail::OverloadOf<Functions>...>;

namespace detail {
// What overloaded{functions...} is.
template <class... Functions>
using Overloaded = overloaded<OverloadOf<std::decay_t<Functions>>...>;
}  // namespace detail

}}  // namespace handoff::HANDOFF_ABI
