// SPDX-License-Identifier: MIT
//
// Several signatures that share a list, a dispatcher or a queue, and which of them is meant.
//
//   handoff::Signatures<void(int), void(const std::string&)>
//
// A function belongs to the signature that it can be called by, a call to the one that has exactly
// these arguments, or else to the one that they convert to. If several would do, the program says
// which: nothing is chosen silently, not even int before double.
// For: HeterCallbackList, HeterEventDispatcher, HeterEventQueue. Not for: one signature.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/event/detail/listener_function.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class... All>
struct Signatures {};

namespace detail {

// Stands for a signature that follows from the arguments.
struct Deduced {};

template <class Signature>
struct SignatureTraits;

template <class R, class... Args>
struct SignatureTraits<R(Args...)> {
  using Stored = std::tuple<std::decay_t<Args>...>;

  template <class F>
  static constexpr bool can_call = std::is_invocable_r_v<R, F&, ListenerArgument<Args>&...>;

  template <class... A>
  static consteval bool is_exactly() {
    return std::is_same_v<std::tuple<std::decay_t<A>...>, Stored>;
  }
  template <class... A>
  static consteval bool takes() {
    if constexpr (sizeof...(A) == sizeof...(Args)) {
      return (std::is_convertible_v<A, Args> && ...);
    } else {
      return false;
    }
  }
};

inline constexpr std::size_t kNoSignature = ~std::size_t{0};
inline constexpr std::size_t kSeveralSignatures = kNoSignature - 1;

consteval std::size_t the_only(std::initializer_list<bool> fits) {
  std::size_t found = kNoSignature;
  std::size_t index = 0;
  for (const bool each : fits) {
    if (each) found = found == kNoSignature ? index : kSeveralSignatures;
    ++index;
  }
  return found;
}

template <class All>
struct SignatureChoice;

template <class... All>
struct SignatureChoice<Signatures<All...>> {
  // Of the one by this name.
  template <class Named>
  static consteval std::size_t named() {
    constexpr std::size_t index = the_only({std::is_same_v<Named, All>...});
    static_assert(index < sizeof...(All), "this is none of the signatures, or twice among them");
    return index;
  }

  // Of the one that an F can be called by, unless it is named.
  template <class Named, class F>
  static consteval std::size_t of_function() {
    if constexpr (std::is_same_v<Named, Deduced>) {
      constexpr std::size_t index =
          the_only({SignatureTraits<All>::template can_call<std::decay_t<F>>...});
      static_assert(index != kNoSignature, "the function can be called by none of the signatures");
      static_assert(index != kSeveralSignatures,
                    "the function can be called by several of the signatures: name one, as in "
                    "append<void(int)>(function)");
      return index;
    } else {
      return named<Named>();
    }
  }

  // Of the one that these arguments are for.
  template <class... Args>
  static consteval std::size_t of_call() {
    constexpr std::size_t exact =
        the_only({SignatureTraits<All>::template is_exactly<Args...>()...});
    constexpr std::size_t index =
        exact < sizeof...(All) ? exact
                               : the_only({SignatureTraits<All>::template takes<Args...>()...});
    static_assert(index != kNoSignature, "none of the signatures takes these arguments");
    static_assert(index != kSeveralSignatures,
                  "several of the signatures take these arguments: convert them to one's own");
    return index;
  }
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
