// SPDX-License-Identifier: MIT
//
// Mixins: classes that a program puts between a dispatcher and its base, and what they are asked.
//
// Not for: users.
#pragma once

#include <type_traits>
#include <utility>

#include <eventpp/eventpolicies.h>

namespace eventpp::internal {

// MixinList<A, B> over Base is A<B<Base>>.
template <class Base, class List>
struct WithMixins;
template <class Base>
struct WithMixins<Base, MixinList<>> {
  using type = Base;
};
template <class Base, template <class> class First, template <class> class... Rest>
struct WithMixins<Base, MixinList<First, Rest...>> {
  using type = First<typename WithMixins<Base, MixinList<Rest...>>::type>;
};

template <class Member>
struct ClassOfMember;
template <class Class, class Function>
struct ClassOfMember<Function Class::*> {
  using type = Class;
};

// The class that declares the mixinBeforeDispatch which Mixin has; void: it has none.
template <class Mixin, class... Args>
consteval auto declaring_before_dispatch() {
  if constexpr (requires { &Mixin::template mixinBeforeDispatch<Args&...>; }) {
    return ClassOfMember<decltype(&Mixin::template mixinBeforeDispatch<Args&...>)>();
  } else if constexpr (requires { &Mixin::mixinBeforeDispatch; }) {
    return ClassOfMember<decltype(&Mixin::mixinBeforeDispatch)>();
  } else {
    return std::type_identity<void>();
  }
}

// Whether Mixin brings one, itself or by a base of its own: one that it has from Lower is asked
// there.
template <class Mixin, class Lower, class... Args>
consteval bool brings_before_dispatch() {
  using Class = typename decltype(declaring_before_dispatch<Mixin, Args...>())::type;
  using FromBelow = typename decltype(declaring_before_dispatch<Lower, Args...>())::type;
  return !std::is_void_v<Class> && !std::is_same_v<Class, FromBelow>;
}

// Asks the mixins over Base in the order of their list; whether all of them say true.
template <class Base, class List>
struct AskMixins;
template <class Base>
struct AskMixins<Base, MixinList<>> {
  template <class... Args>
  static bool ask(const Base&, Args&...) {
    return true;
  }
};
template <class Base, template <class> class First, template <class> class... Rest>
struct AskMixins<Base, MixinList<First, Rest...>> {
  template <class... Args>
  static bool ask(const Base& base, Args&... args) {
    using Lower = typename WithMixins<Base, MixinList<Rest...>>::type;
    using Mixin = First<Lower>;
    if constexpr (brings_before_dispatch<Mixin, Lower, Args...>()) {
      if (!static_cast<const Mixin&>(base).mixinBeforeDispatch(args...)) return false;
    }
    return AskMixins<Base, MixinList<Rest...>>::ask(base, args...);
  }
};

}  // namespace eventpp::internal
