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

// Whether Mixin itself has mixinBeforeDispatch: one it inherits is asked where it stands.
template <class Mixin, class... Args>
consteval bool has_before_dispatch() {
  if constexpr (requires { &Mixin::template mixinBeforeDispatch<Args&...>; }) {
    using Member = decltype(&Mixin::template mixinBeforeDispatch<Args&...>);
    return std::is_same_v<typename ClassOfMember<Member>::type, Mixin>;
  } else if constexpr (requires { &Mixin::mixinBeforeDispatch; }) {
    using Member = decltype(&Mixin::mixinBeforeDispatch);
    return std::is_same_v<typename ClassOfMember<Member>::type, Mixin>;
  } else {
    return false;
  }
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
    using Mixin = typename WithMixins<Base, MixinList<First, Rest...>>::type;
    if constexpr (has_before_dispatch<Mixin, Args...>()) {
      if (!static_cast<const Mixin&>(base).mixinBeforeDispatch(args...)) return false;
    }
    return AskMixins<Base, MixinList<Rest...>>::ask(base, args...);
  }
};

}  // namespace eventpp::internal
