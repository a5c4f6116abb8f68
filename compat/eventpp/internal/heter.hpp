// SPDX-License-Identifier: MIT
//
// What the heterogeneous classes share: which of several prototypes a callback belongs to, and a
// call; a handle of any of them; and their policies without what belongs to one prototype.
//
// Not for: users, but for HeterTuple.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <eventpp/internal/policies.hpp>

namespace eventpp {

// A list of prototypes: HeterTuple<void(), void(int)>.
template <class... Prototypes>
struct HeterTuple {};

namespace internal {

template <class Prototype>
struct Takes;
template <class R, class... Args>
struct Takes<R(Args...)> {
  using Stored = std::tuple<std::decay_t<Args>...>;

  // Whether F is a callback of this prototype, as std::function says.
  template <class F>
  static constexpr bool callback = std::is_invocable_r_v<R, F&, Args...>;

  // Whether a call with these arguments fits exactly, or by conversions.
  template <class... Given>
  static consteval bool is_exactly() {
    return std::is_same_v<std::tuple<std::decay_t<Given>...>, Stored>;
  }
  template <class... Given>
  static consteval bool takes() {
    if constexpr (sizeof...(Given) == sizeof...(Args)) {
      return (std::is_convertible_v<Given, Args> && ...);
    } else {
      return false;
    }
  }

  using Filter = bool(std::remove_reference_t<Args>&...);
};

inline constexpr std::size_t kNone = ~std::size_t{0};

// The first index for which it is true.
template <class... Bools>
consteval std::size_t first_of(Bools... is) {
  const bool all[] = {is..., false};
  for (std::size_t i = 0; i < sizeof...(is); ++i) {
    if (all[i]) return i;
  }
  return kNone;
}

// Which prototype a callback of type F belongs to: the first that it can be called by.
template <class F, class... Prototypes>
consteval std::size_t index_of_callback() {
  return first_of(Takes<Prototypes>::template callback<F>...);
}
// Which one a call belongs to: that with exactly these arguments, or the first they convert to.
template <class Arguments, class... Prototypes>
struct IndexOfCall;
template <class... Given, class... Prototypes>
struct IndexOfCall<std::tuple<Given...>, Prototypes...> {
  static constexpr std::size_t exact =
      first_of(Takes<Prototypes>::template is_exactly<Given...>()...);
  static constexpr std::size_t value =
      exact != kNone ? exact : first_of(Takes<Prototypes>::template takes<Given...>()...);
};
template <class Prototype, class... Prototypes>
consteval std::size_t index_of() {
  return first_of(std::is_same_v<Prototype, Prototypes>...);
}

// A handle of one of several lists. True while its callback is in its list.
template <class... Handles>
class HeterHandle {
 public:
  HeterHandle() noexcept = default;
  template <std::size_t kAt, class Handle>
  HeterHandle(std::in_place_index_t<kAt> index, Handle handle)
      : handle_(index, std::move(handle)) {}

  explicit operator bool() const {
    return std::visit([](const auto& handle) { return static_cast<bool>(handle); }, handle_);
  }
  bool expired() const { return !static_cast<bool>(*this); }
  friend bool operator==(const HeterHandle&, const HeterHandle&) = default;

  std::size_t index() const noexcept { return handle_.index(); }
  // An empty one, where it is of another list.
  template <std::size_t kAt>
  auto at() const {
    const auto* const handle = std::get_if<kAt>(&handle_);
    return handle != nullptr ? *handle : std::variant_alternative_t<kAt, decltype(handle_)>();
  }

 private:
  std::variant<Handles...> handle_;
};

// use(constant kAt) for the kAt that is wanted; nothing for another.
template <std::size_t... kAt, class Use>
void with_index(std::index_sequence<kAt...>, std::size_t wanted, Use&& use) {
  ((wanted == kAt ? use(std::integral_constant<std::size_t, kAt>()) : void()), ...);
}

template <class Policies>
struct HeterListPolicies {
  using Threading = typename ThreadingOf<Policies>::type;
  template <class... Args>
    requires requires(const Args&... args) { Policies::canContinueInvoking(args...); }
  static bool canContinueInvoking(const Args&... args) {
    return static_cast<bool>(Policies::canContinueInvoking(args...));
  }
};
template <class Policies>
struct HeterTablePolicies : HeterListPolicies<Policies> {};
template <class Policies>
  requires HasMap<Policies, int>
struct HeterTablePolicies<Policies> : HeterListPolicies<Policies> {
  template <class Key, class T>
  using Map = typename Policies::template Map<Key, T>;
};

// There is no detecting here: the event is left out unless the policies say that it is passed.
template <class Policies>
inline constexpr bool kPassesEvent =
    std::is_same_v<typename ArgumentPassingOf<Policies>::type, ArgumentPassingIncludeEvent>;

}  // namespace internal
}  // namespace eventpp
