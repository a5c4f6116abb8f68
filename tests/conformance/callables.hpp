// SPDX-License-Identifier: MIT
//
// Every kind of callable, given to every place that takes one: a list of kinds, lists of places by
// room, and the walk over both. Each kind returns a Status, which is [[nodiscard]]: that none of it
// warns, the compilers say.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <handoff/core/copyable_function.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>

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

// ---- The kinds: give<Args...>(use) calls use(callable), with what takes Args --------------------

enum class Needs { nothing, copies, constant };  // each place what those before it need, too

struct Lambda {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use([](Args...) { return called(); });
  }
};

struct LambdaByItsName {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    const auto lambda = [](Args...) { return called(); };
    use(lambda);
  }
};

struct MutableLambda {
  static constexpr Needs kMeets = Needs::copies;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use([own = 0](Args...) mutable { return (own += 1) != 0 ? called() : Status::ok; });
  }
};

struct MovableLambda {
  static constexpr Needs kMeets = Needs::nothing;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use([own = std::make_unique<int>(0)](Args...) { return ++*own, called(); });
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
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(function<Args...>);
  }
};

struct FunctionPointer {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(&function<Args...>);
    --calls;
    use(&safe_function<Args...>);
  }
};

struct FinalClass {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args>
  struct Function final {
    Status operator()(Args... /*args*/) const { return called(); }
  };
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(Function<Args...>());
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
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(Function<Args...>());
  }
};

struct StdFunction {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(std::function<Status(Args...)>([](Args...) { return called(); }));
  }
};

struct OwnFunction {
  static constexpr Needs kMeets = Needs::nothing;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(UniqueFunction<Status(Args...)>([](Args...) { return called(); }));
  }
};

struct Reference {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    auto lambda = [own = 0](Args...) mutable { return (own += 1) != 0 ? called() : Status::ok; };
    use(std::ref(lambda));
  }
};

struct Bound {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    use(std::bind([](int) { return called(); }, 1));
  }
};

template <class... Args>
inline constexpr bool kFirstIsItem = false;
template <class First>
inline constexpr bool kFirstIsItem<First> = std::is_same_v<std::remove_cvref_t<First>, Item>;

struct MemberFunction {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    if constexpr (kFirstIsItem<Args...>) {
      use(&Item::note);
      --calls;
      use(&Item::note_safely);
    } else {
      ++calls;
    }
  }
};

struct MemberObject {
  static constexpr Needs kMeets = Needs::constant;
  template <class... Args, class Use>
  static void give(Use&& use) {
    if constexpr (kFirstIsItem<Args...>) use(&Item::value);
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

  template <class Kind, class Use>
  static void give(Use&& use) {
    Kind::template give<Args...>(use);
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
    P::template give<Kind>([]<class F>(F&& callable) { P::call(std::forward<F>(callable)); });
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
