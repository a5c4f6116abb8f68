// SPDX-License-Identifier: MIT
//
// Which functions are operators of the standard library: what they cost, and in what order numbers
// may go through them, is known. Not for users.
#pragma once

#include <memory>
#include <type_traits>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// std::plus<T> and such, and std::plus<>.
template <class F>
inline constexpr bool is_standard_operation = false;
template <class T>
inline constexpr bool is_standard_operation<std::plus<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::minus<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::multiplies<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::bit_and<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::bit_or<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::bit_xor<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::negate<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::divides<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::less<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::greater<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::less_equal<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::greater_equal<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::equal_to<T>> = true;
template <class T>
inline constexpr bool is_standard_operation<std::not_equal_to<T>> = true;
template <>
inline constexpr bool is_standard_operation<std::identity> = true;
template <>
inline constexpr bool is_standard_operation<std::ranges::less> = true;
template <>
inline constexpr bool is_standard_operation<std::ranges::greater> = true;

// Those that commute, and of which numbers may be combined in any order that is always the same:
// the same for any numbers; else void.
template <class F, class T>
struct CommutativeOperation {
  using type = void;
};
template <class T>
struct CommutativeOperation<std::plus<T>, T> {
  using type = std::plus<>;
};
template <class T>
struct CommutativeOperation<std::bit_and<T>, T> {
  using type = std::bit_and<>;
};
template <class T>
struct CommutativeOperation<std::bit_or<T>, T> {
  using type = std::bit_or<>;
};
template <class T>
struct CommutativeOperation<std::bit_xor<T>, T> {
  using type = std::bit_xor<>;
};
template <template <class> class F, class T>
  requires(!std::is_void_v<T>)
struct CommutativeOperation<F<void>, T> : CommutativeOperation<F<T>, T> {};

template <class F, class T>
using CommutativeOn = typename CommutativeOperation<std::remove_cvref_t<F>, T>::type;

// Whether a call of F with these costs a nanosecond or so, by its type alone.
template <class F, class... Args>
inline constexpr bool is_cheap = is_standard_operation<std::remove_cvref_t<F>> &&
                                 (std::is_arithmetic_v<std::remove_cvref_t<Args>> && ...);

}}}  // namespace handoff::HANDOFF_ABI::detail
