// SPDX-License-Identifier: MIT
//
// detail::invoke: every way to call that std::invoke has, and the same results as there.
#include <handoff/core/internal/invoke.hpp>

#include "support/test.hpp"

namespace {

namespace detail = handoff::detail;

struct Base {
  int value = 3;
  int twice() const { return 2 * value; }
  int add(int x) & { return value + x; }
  int take() && { return std::exchange(value, 0); }
};
struct Derived : Base {};

int plus_one(int x) { return x + 1; }

TEST(Invoke, CallsFunctionsAndObjects) {
  EXPECT_EQ(detail::invoke(plus_one, 1), 2);
  EXPECT_EQ(detail::invoke(&plus_one, 1), 2);
  EXPECT_EQ(detail::invoke([](std::unique_ptr<int> p) { return *p; }, std::make_unique<int>(7)), 7);
  int calls = 0;
  auto count = [&calls]() mutable -> int& { return ++calls; };
  detail::invoke(count) = 41;
  EXPECT_EQ(detail::invoke(std::ref(count)), 42);
}

TEST(Invoke, CallsMembersOfWhateverLeadsToAnObject) {
  Derived object;
  const Derived& constant = object;
  const auto owned = std::make_unique<Derived>();
  EXPECT_EQ(detail::invoke(&Base::twice, object), 6);
  EXPECT_EQ(detail::invoke(&Base::twice, constant), 6);
  EXPECT_EQ(detail::invoke(&Base::twice, &object), 6);
  EXPECT_EQ(detail::invoke(&Base::twice, owned), 6);
  EXPECT_EQ(detail::invoke(&Base::add, std::ref(object), 4), 7);
  EXPECT_EQ(detail::invoke(&Base::take, std::move(object)), 3);
  EXPECT_EQ(object.value, 0);  // NOLINT(bugprone-use-after-move): take() said what it leaves
}

TEST(Invoke, ReadsDataMembersAndMayChangeThem) {
  Derived object;
  detail::invoke(&Base::value, object) = 5;
  EXPECT_EQ(detail::invoke(&Base::value, &object), 5);
  detail::invoke(&Base::value, std::ref(object)) = 6;
  EXPECT_EQ(object.value, 6);
  static_assert(std::is_same_v<decltype(detail::invoke(&Base::value, std::declval<Base>())),
                               decltype(std::invoke(&Base::value, std::declval<Base>()))>);
}

}  // namespace
