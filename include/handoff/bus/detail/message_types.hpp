// SPDX-License-Identifier: MIT
//
// The types of a bus by number, and the jump from a number to its type. Not for users.
//
// The jump is a tree of comparisons that the compiler sees through: no table of functions stands
// between a message and its handler, which can so be inlined.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Question, class Reply>
class Request;  // request.hpp

namespace detail {

template <class T>
inline constexpr bool kIsRequest = false;
template <class Question, class Reply>
inline constexpr bool kIsRequest<Request<Question, Reply>> = true;

template <class... Messages>
struct MessageTypes {
  static constexpr std::size_t kCount = sizeof...(Messages);

  template <class T>
  static constexpr std::size_t kTimes = (std::size_t{std::is_same_v<T, Messages>} + ... + 0);
  template <class T>
  static constexpr bool kHas = kTimes<T> != 0;

  // The number of a type that is one of them.
  template <class T>
  static constexpr std::size_t index() noexcept {
    std::size_t at = 0;
    bool found = false;
    ((found = found || std::is_same_v<T, Messages>, at += found ? 0 : 1), ...);
    return at;
  }

  template <std::size_t kIndex>
  using At = std::tuple_element_t<kIndex, std::tuple<Messages...>>;

  // Calls function(std::type_identity<T>()) with the type of this number.
  template <class Function, std::size_t kFirst = 0, std::size_t kSize = kCount>
  [[gnu::always_inline]] static decltype(auto) visit(std::size_t index, Function&& function) {
    if constexpr (kSize == 1) {
      return function(std::type_identity<At<kFirst>>());
    } else {
      if (index < kFirst + kSize / 2) return visit<Function&, kFirst, kSize / 2>(index, function);
      return visit<Function&, kFirst + kSize / 2, kSize - kSize / 2>(index, function);
    }
  }
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
