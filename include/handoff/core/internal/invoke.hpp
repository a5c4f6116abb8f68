// SPDX-License-Identifier: MIT
//
// Calls whatever can be called, pointers to members too. Not for users, who have std::invoke.
//
// The same as std::invoke, whose header costs everybody who includes us 15,000 lines. All that a
// user hands us to be called is called by invoke(), or by call_and_drop(), which is the one place
// where a result is dropped: so pointers to members, functions and function objects of any kind do
// everywhere, and a result that is [[nodiscard]] warns nowhere.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
struct IsReferenceWrapper : std::false_type {};
template <class T>
struct IsReferenceWrapper<std::reference_wrapper<T>> : std::true_type {};

// What a pointer to a member of C is applied to: the object itself, or what it refers to.
template <class C, class Object>
constexpr decltype(auto) object_of(Object&& object) {
  if constexpr (std::is_base_of_v<C, std::remove_cvref_t<Object>>) {
    return std::forward<Object>(object);
  } else if constexpr (IsReferenceWrapper<std::remove_cvref_t<Object>>::value) {
    return object.get();
  } else {
    return *std::forward<Object>(object);
  }
}

// What the callable makes of its arguments is its business, conversions too: std::invoke gets no
// warning either, being in a system header.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#if !defined(__clang__)
// A pointer to a member function may name a virtual one, whose call reads the object's first word.
// GCC 12 at -O3 warns of that read in a class smaller than a word, which has no virtual functions.
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
template <class C, class Member, class Object, class... Args>
constexpr decltype(auto) invoke_member(Member C::* member, Object&& object, Args&&... args) {
  if constexpr (std::is_function_v<Member>) {
    return (object_of<C>(std::forward<Object>(object)).*member)(std::forward<Args>(args)...);
  } else {
    static_assert(sizeof...(Args) == 0, "a data member takes no arguments");
    return (object_of<C>(std::forward<Object>(object)).*member);
  }
}

template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
[[gnu::always_inline]] constexpr std::invoke_result_t<F, Args...> invoke(
    F&& function, Args&&... args) noexcept(std::is_nothrow_invocable_v<F, Args...>) {
  if constexpr (std::is_member_pointer_v<std::remove_cvref_t<F>>) {
    return invoke_member(function, std::forward<Args>(args)...);
  } else {
    return std::forward<F>(function)(std::forward<Args>(args)...);
  }
}
#pragma GCC diagnostic pop

// For its effect alone.
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
[[gnu::always_inline]] constexpr void call_and_drop(F&& function, Args&&... args) noexcept(
    std::is_nothrow_invocable_v<F, Args...>) {
  static_cast<void>(detail::invoke(std::forward<F>(function), std::forward<Args>(args)...));
}

// What is kept of a call's result: what a reference to a temporary leads to is kept itself.
template <class F, class... Args>
using KeptResult = std::conditional_t<std::is_rvalue_reference_v<std::invoke_result_t<F, Args...>>,
                                      std::remove_cvref_t<std::invoke_result_t<F, Args...>>,
                                      std::invoke_result_t<F, Args...>>;

}}}  // namespace handoff::HANDOFF_ABI::detail
