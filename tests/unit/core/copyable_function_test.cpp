// SPDX-License-Identifier: MIT
//
// CopyableFunction: what its copies share, which is nothing, and what it makes and ends.
#include <gtest/gtest.h>

#include <cerrno>
#include <handoff/core/copyable_function.hpp>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "support/failing.hpp"

namespace copyable_function_test { namespace {

using handoff::CopyableFunction;

TEST(CopyableFunction, ACopyHoldsACallableOfItsOwn) {
  CopyableFunction<int()> count([n = 0]() mutable { return ++n; });
  EXPECT_EQ(count(), 1);
  const CopyableFunction<int()> copy(count);
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(copy(), 2);
  EXPECT_EQ(copy(), 3);
  EXPECT_EQ(count(), 3);
  CopyableFunction<int()> assigned;
  assigned = copy;
  EXPECT_EQ(assigned(), 4);
  EXPECT_EQ(copy(), 4);
}

TEST(CopyableFunction, MovedFromItIsEmpty) {
  CopyableFunction<int(int)> add([one = 1](int x) { return one + x; });
  CopyableFunction<int(int)> moved(std::move(add));
  EXPECT_FALSE(add);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
  EXPECT_EQ(moved(41), 42);
  add = std::move(moved);
  EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
  EXPECT_EQ(add(1), 2);
}

struct Counted {
  int* made;
  int* ended;
  Counted(int* m, int* e) : made(m), ended(e) { ++*made; }
  Counted(const Counted& other) : made(other.made), ended(other.ended) { ++*made; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { ++*ended; }
};

TEST(CopyableFunction, EndsExactlyWhatItMade) {
  int made = 0;
  int ended = 0;
  {
    CopyableFunction<bool()> a([c = Counted(&made, &ended)] { return c.made != nullptr; });
    EXPECT_EQ(made - ended, 1);
    CopyableFunction<bool()> b(a);
    EXPECT_EQ(made - ended, 2);
    CopyableFunction<bool()> c;
    c = b;
    EXPECT_EQ(made - ended, 3);
    const CopyableFunction<bool()>& same = c;
    c = same;
    EXPECT_EQ(made - ended, 3);
    EXPECT_TRUE(c());
    c = std::move(b);
    EXPECT_EQ(made - ended, 2);
    c = nullptr;
    EXPECT_EQ(made - ended, 1);
  }
  EXPECT_EQ(made, ended);
}

struct ThrowingCopy {
  ThrowingCopy() = default;
  ThrowingCopy(const ThrowingCopy& other) : value(other.value) {
    if (armed) throw std::runtime_error("copied");
  }
  ThrowingCopy& operator=(const ThrowingCopy&) = delete;
  ~ThrowingCopy() = default;
  int operator()() const { return value; }
  int value = 5;
  static inline bool armed = false;
};

TEST(CopyableFunction, ACopyThatThrowsChangesNothing) {
  const CopyableFunction<int()> function{ThrowingCopy()};
  CopyableFunction<int()> other([] { return 1; });
  ThrowingCopy::armed = true;
  EXPECT_THROW(other = function, std::runtime_error);
  ThrowingCopy::armed = false;
  EXPECT_EQ(other(), 1);
  EXPECT_EQ(function(), 5);
  handoff::test::fail_after(handoff::test::Call::allocation, 0, ENOMEM);
  EXPECT_THROW(other = function, std::bad_alloc);
  EXPECT_TRUE(handoff::test::stop_failing(handoff::test::Call::allocation));
  EXPECT_EQ(other(), 1);
  static_assert(std::is_nothrow_move_constructible_v<CopyableFunction<int()>>);
  static_assert(std::is_nothrow_move_assignable_v<CopyableFunction<int()>>);
}

int twice(int x) { return 2 * x; }
struct Number {
  int value;
  int plus(int x) const { return value + x; }
};

TEST(CopyableFunction, TakesFunctionsAndMembers) {
  EXPECT_EQ(CopyableFunction<int(int)>(twice)(4), 8);
  EXPECT_EQ(CopyableFunction<int(int)>(&twice)(4), 8);
  EXPECT_EQ((CopyableFunction<int(const Number&, int)>(&Number::plus)(Number{3}, 4)), 7);
  EXPECT_EQ((CopyableFunction<int(const Number&)>(&Number::value)(Number{3})), 3);
}

TEST(CopyableFunction, PassesReferencesAndMoveOnlyArguments) {
  const CopyableFunction<void(std::string&, std::unique_ptr<int>)> append(
      [](std::string& text, std::unique_ptr<int> n) { text += std::to_string(*n); });
  std::string text = "n=";
  append(text, std::make_unique<int>(7));
  EXPECT_EQ(text, "n=7");
  const CopyableFunction<void(int)> drops_the_result(twice);
  drops_the_result(1);
}

TEST(CopyableFunction, AnEmptyOneIsMisuseToCall) {
  const CopyableFunction<void()> empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty(), std::logic_error);
  const CopyableFunction<void()> copy(empty);
  EXPECT_FALSE(copy);
  EXPECT_FALSE(CopyableFunction<void()>(nullptr));
  int (*no_function)(int) = nullptr;
  EXPECT_FALSE(CopyableFunction<int(int)>(no_function));
}

TEST(CopyableFunction, LetsExceptionsThroughAndStaysUsable) {
  int calls = 0;
  const CopyableFunction<void()> function([&] {
    if (++calls == 1) throw std::runtime_error("first");
  });
  EXPECT_THROW(function(), std::runtime_error);
  function();
  EXPECT_EQ(calls, 2);
}

}}  // namespace copyable_function_test
