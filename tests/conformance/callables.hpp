// SPDX-License-Identifier: MIT
//
// Every kind of callable, given to every place that takes one: a list of kinds, lists of places by
// room, and the walk over both. Each kind returns a Status, which is [[nodiscard]]: that none of it
// warns, the compilers say.
#pragma once

#include <handoff/core/internal/type_name.hpp>

#include "support/test.hpp"

namespace handoff::test::callables {

inline std::atomic<int> calls{0};
inline Status called() {
  ++calls;
  return Status::full;
}

// What most places give: it can be sent anywhere, also between processes.
struct Item {
  int value = 1;

  Status note() const { return called(); }
  Status note_safely() const noexcept { return called(); }
};

// What a place expects of its calls. It throws, and the test fails; a macro of GoogleTest would be
// compiled for each kind in each place.
inline void accepted(Status status) {
  if (status != Status::ok) throw std::runtime_error(to_string(status));
}
inline void once(std::uint64_t count) {
  if (count != 1) throw std::runtime_error("handled " + std::to_string(count) + " times");
}

// ---- The kinds: give<P, Args...>() calls P::call(callable), with what takes Args
// -----------------
//
// What is given depends on Args alone: places that give the same have one type of it to compile.

enum class Needs { nothing, copies, constant };  // each place what those before it need, too

struct Lambda {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args>
  static auto make() {
    return [](Args...) { return called(); };
  }
  template <class P, class... Args>
  static void give() {
    P::call(make<Args...>());
  }
};

struct LambdaByItsName {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    const auto lambda = Lambda::make<Args...>();
    P::call(lambda);
  }
};

struct MutableLambda {
  static constexpr Needs kMeets = Needs::copies;
  template <class... Args>
  static auto make() {
    return [own = 0](Args...) mutable { return (own += 1) != 0 ? called() : Status::ok; };
  }
  template <class P, class... Args>
  static void give() {
    P::call(make<Args...>());
  }
};

struct MovableLambda {
  static constexpr Needs kMeets = Needs::nothing;
  template <class... Args>
  static auto make() {
    return [own = std::make_unique<int>(0)](Args...) { return ++*own, called(); };
  }
  template <class P, class... Args>
  static void give() {
    P::call(make<Args...>());
  }
};

template <class... Args>
Status function(Args... /*args*/) {
  return called();
}
template <class... Args>
Status safe_function(Args... /*args*/) noexcept {
  return called();
}

struct FunctionByItsName {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    P::call(function<Args...>);
  }
};

struct FunctionPointer {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    P::call(&function<Args...>);
    --calls;
    P::call(&safe_function<Args...>);
  }
};

struct FinalClass {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args>
  struct Function final {
    Status operator()(Args... /*args*/) const { return called(); }
  };
  template <class P, class... Args>
  static void give() {
    P::call(Function<Args...>());
  }
};

// Can be called as an lvalue, and as nothing else.
struct LvalueFunction {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args>
  struct Function {
    Status operator()(Args... /*args*/) const& { return called(); }
    Status operator()(Args... /*args*/) const&& = delete;
  };
  template <class P, class... Args>
  static void give() {
    P::call(Function<Args...>());
  }
};

struct StdFunction {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    P::call(std::function<Status(Args...)>(Lambda::make<Args...>()));
  }
};

struct OwnFunction {
  static constexpr Needs kMeets = Needs::nothing;
  template <class P, class... Args>
  static void give() {
    P::call(UniqueFunction<Status(Args...)>(Lambda::make<Args...>()));
  }
};

struct Reference {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    auto lambda = MutableLambda::make<Args...>();
    P::call(std::ref(lambda));
  }
};

struct Bound {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    P::call(std::bind(Lambda::make<int>(), 1));
  }
};

template <class... Args>
inline constexpr bool kFirstIsItem = false;
template <class First>
inline constexpr bool kFirstIsItem<First> = std::is_same_v<std::remove_cvref_t<First>, Item>;

struct MemberFunction {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    if constexpr (kFirstIsItem<Args...>) {
      P::call(&Item::note);
      --calls;
      P::call(&Item::note_safely);
    } else {
      ++calls;
    }
  }
};

struct MemberObject {
  static constexpr Needs kMeets = Needs::constant;
  template <class P, class... Args>
  static void give() {
    if constexpr (kFirstIsItem<Args...>) P::call(&Item::value);
    ++calls;  // nothing to be counted by
  }
};

// ---- The walk -----------------------------------------------------------------------------------

// The base of a place that gives these arguments; it has call(callable), which has it called once.
template <class... Args>
struct Place {
  static constexpr Needs kNeeds = Needs::nothing;
  // Some call their copy as std::async does: as what ends with the call.
  static constexpr bool kCallsRvalues = false;

  template <class Kind, class P>
  static void give() {
    Kind::template give<P, Args...>();
  }
};
template <class... Args>
struct ConstPlace : Place<Args...> {
  static constexpr Needs kNeeds = Needs::constant;
};

template <class Kind, class P>
std::string fault_in() {
  if constexpr (Kind::kMeets < P::kNeeds ||
                (std::is_same_v<Kind, LvalueFunction> && P::kCallsRvalues)) {
    return {};
  } else {
    calls = 0;
    P::template give<Kind, P>();
    if (calls == 1) return {};
    return std::string(detail::name_in(detail::type_name<Kind>())) + " in " +
           std::string(detail::name_in(detail::type_name<P>())) + " was called " +
           std::to_string(calls) + " times";
  }
}

template <class... Kinds>
struct KindList {
  template <class P>
  static std::string fault() {
    std::string found;
    ((found.empty() ? void(found = fault_in<Kinds, P>()) : void()), ...);
    return found;
  }
};
using Kinds = KindList<Lambda, LambdaByItsName, MutableLambda, MovableLambda, FunctionByItsName,
                       FunctionPointer, FinalClass, LvalueFunction, StdFunction, OwnFunction,
                       Reference, Bound, MemberFunction, MemberObject>;

// A room's list of places, each of which is a test.
template <class P>
class CallablesTest : public testing::Test {};
TYPED_TEST_SUITE_P(CallablesTest);
TYPED_TEST_P(CallablesTest, OfAnyKindAreCalled) { EXPECT_EQ(Kinds::fault<TypeParam>(), ""); }
REGISTER_TYPED_TEST_SUITE_P(CallablesTest, OfAnyKindAreCalled);

}  // namespace handoff::test::callables
