// SPDX-License-Identifier: MIT
//
// Listeners for types more derived than those their list passes: each argument is cast on its way.
//
//   handoff::EventDispatcher<Kind, void(const Event&)> events;
//   events.append_listener(Kind::click, handoff::adapt<void(const Click&)>(
//       [](const Click& click) { ... }));                      // struct Click : Event
//
//   auto is_left = [](const Click& click) { return click.button == 1; };
//   events.append_listener(Kind::click, handoff::adapt<void(const Click&)>(
//       handoff::call_when(is_left, on_left_click)));
//
// For: one list for a family of types, where the key or other knowledge tells which type it is. Not
// for: types that only the event itself knows (AnyData reports misuse, a std::variant visits).
// The list passes            the listener may take
//   T, or what converts        T
//   Base&                      Derived&: an unchecked static_cast
//   Pointer<Base>              Pointer<Derived>, if static_pointer_cast supports it
//   T*, Pointer<Base>          T&, Derived&: what it points to
//   AnyData                    T&: the value it holds; another type is misuse
// A queue stores its arguments as the signature says: a Derived stored as a Base is sliced, so give
// queues pointers or boxes.
// Concurrency, exceptions: those of the function. Allocates, blocks: never. An empty function is
// misuse.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/event/internal/listener_function.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// By which of the casts a From becomes a To.
enum class ArgumentCast : std::uint8_t { none, same, down, box, pointer, pointee };

template <class To, class From>
consteval ArgumentCast argument_cast_for() {
  using Target = std::remove_cvref_t<To>;
  using Source = std::remove_cvref_t<From>;
  if constexpr (std::is_reference_v<To> && !std::is_same_v<Source, Target> &&
                std::is_base_of_v<Source, Target>) {
    return requires(From& from) { static_cast<To>(from); } ? ArgumentCast::down
                                                           : ArgumentCast::none;
  } else if constexpr (std::is_convertible_v<From&, To>) {
    return ArgumentCast::same;
  } else if constexpr (requires(From& from) { static_cast<To>(from.template get<Target>()); }) {
    return ArgumentCast::box;
  } else if constexpr (requires(From& from) {
                         static_pointer_cast<typename Target::element_type>(from);
                       }) {
    return ArgumentCast::pointer;
  } else if constexpr (std::is_reference_v<To> &&
                       requires(From& from) { static_cast<To>(*from); }) {
    return ArgumentCast::pointee;
  } else {
    return ArgumentCast::none;
  }
}

template <class To, class From>
decltype(auto) argument_cast(From& from) {
  constexpr ArgumentCast kind = argument_cast_for<To, From>();
  if constexpr (kind == ArgumentCast::down) {
    return static_cast<To>(from);
  } else if constexpr (kind == ArgumentCast::box) {
    return static_cast<To>(from.template get<std::remove_cvref_t<To>>());
  } else if constexpr (kind == ArgumentCast::pointer) {
    return static_pointer_cast<typename std::remove_cvref_t<To>::element_type>(from);
  } else if constexpr (kind == ArgumentCast::pointee) {
    return static_cast<To>(*from);
  } else {
    return static_cast<From&>(from);  // the call converts it
  }
}

template <class Signature, class F>
class ArgumentAdapter;

template <class R, class... To, class F>
class ArgumentAdapter<R(To...), F> {
  template <class... From>
  static consteval bool fits() {
    if constexpr (sizeof...(From) == sizeof...(To)) {
      return ((argument_cast_for<To, From>() != ArgumentCast::none) && ...);
    } else {
      return false;
    }
  }

 public:
  template <class G>
  explicit ArgumentAdapter(std::in_place_t, G&& function) : function_(std::forward<G>(function)) {}

  template <class... From>
    requires(fits<From...>())
  R operator()(From&... from) {
    if constexpr (std::is_void_v<R>) {
      detail::call_and_drop(function_, argument_cast<To>(from)...);
    } else {
      return detail::invoke(function_, argument_cast<To>(from)...);
    }
  }

 private:
  F function_;
};

template <class Condition, class F>
class ConditionalCall {
 public:
  template <class C, class G>
  ConditionalCall(std::in_place_t, C&& condition, G&& function)
      : condition_(std::forward<C>(condition)), function_(std::forward<G>(function)) {}

  template <class... Args>
    requires(std::is_invocable_v<Condition&, Args&...> && std::is_invocable_v<F&, Args&...>)
  void operator()(Args&... args) {
    if (static_cast<bool>(detail::invoke(condition_, args...))) {
      detail::call_and_drop(function_, args...);
    }
  }

 private:
  Condition condition_;
  F function_;
};

}  // namespace detail

// A function of what Signature says, for lists that pass on what can be cast to it.
template <class Signature, class F>
auto adapt(F&& function) {
  if (detail::is_empty_function(function)) {
    misuse("an empty function was adapted as a listener; test it first");
  }
  return detail::ArgumentAdapter<Signature, std::decay_t<F>>(std::in_place,
                                                             std::forward<F>(function));
}

// A function that does nothing where `condition(args...)` is false. It stays in its list: one that
// leaves it is added by append_until().
template <class Condition, class F>
auto call_when(Condition&& condition, F&& function) {
  if (detail::is_empty_function(condition) || detail::is_empty_function(function)) {
    misuse("an empty function was made a listener or its condition; test it first");
  }
  return detail::ConditionalCall<std::decay_t<Condition>, std::decay_t<F>>(
      std::in_place, std::forward<Condition>(condition), std::forward<F>(function));
}

}}  // namespace handoff::HANDOFF_ABI
