// SPDX-License-Identifier: MIT
//
// UniqueFunction: what it holds, where, and how often it moves and destroys it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <handoff/core/unique_function.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "support/failing.hpp"

namespace unique_function_test { namespace {

using handoff::UniqueFunction;

template <std::size_t bytes>
struct Capture {
  std::array<unsigned char, bytes> filler{};
};

// How many allocations making, moving and calling a function with such a capture takes.
template <std::size_t bytes>
std::size_t allocations_for() {
  const std::size_t before = handoff::test::calls(handoff::test::Call::allocation);
  UniqueFunction<std::size_t()> function([c = Capture<bytes>()] { return c.filler.size(); });
  UniqueFunction<std::size_t()> moved(std::move(function));
  EXPECT_EQ(moved(), bytes);
  return handoff::test::calls(handoff::test::Call::allocation) - before;
}

TEST(UniqueFunction, FortyEightBytesOfCaptureNeedNoAllocation) {
  EXPECT_EQ(allocations_for<1>(), 0U);
  EXPECT_EQ(allocations_for<48>(), 0U);
  EXPECT_EQ(allocations_for<49>(), 1U);
  EXPECT_EQ(allocations_for<4096>(), 1U);
}

TEST(UniqueFunction, HoldsMoveOnlyCaptures) {
  UniqueFunction<int(int)> add([one = std::make_unique<int>(1)](int x) { return *one + x; });
  EXPECT_EQ(add(41), 42);
  UniqueFunction<int(int)> moved = std::move(add);
  EXPECT_EQ(moved(1), 2);
  EXPECT_FALSE(add);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
}

struct alignas(128) Wide {
  std::uintptr_t where() const { return reinterpret_cast<std::uintptr_t>(this); }
};

TEST(UniqueFunction, KeepsOverAlignedCapturesAligned) {
  for (int i = 0; i < 10; ++i) {
    UniqueFunction<std::uintptr_t()> function([wide = Wide()] { return wide.where(); });
    EXPECT_EQ(function() % 128, 0U);
    UniqueFunction<std::uintptr_t()> moved(std::move(function));
    EXPECT_EQ(moved() % 128, 0U);
  }
}

struct Counted {
  int* made;
  int* ended;
  Counted(int* m, int* e) : made(m), ended(e) { ++*made; }
  Counted(Counted&& other) noexcept : made(other.made), ended(other.ended) { ++*made; }
  ~Counted() { ++*ended; }
};

template <std::size_t extra>
void expect_each_made_is_ended() {
  int made = 0;
  int ended = 0;
  {
    UniqueFunction<int()> a([c = Counted(&made, &ended), big = Capture<extra>()] {
      return static_cast<int>(big.filler.size()) + (c.made != nullptr ? 1 : 0);
    });
    UniqueFunction<int()> b(std::move(a));
    UniqueFunction<int()> c;
    c = std::move(b);
    UniqueFunction<int()>& same = c;
    c = std::move(same);
    EXPECT_EQ(c(), static_cast<int>(extra) + 1);
    EXPECT_EQ(made - ended, 1);
    c = nullptr;
    EXPECT_EQ(made - ended, 0);
  }
  EXPECT_EQ(made, ended);
}

TEST(UniqueFunction, EndsExactlyWhatItMade) {
  expect_each_made_is_ended<1>();
  expect_each_made_is_ended<100>();
}

struct ThrowingMove {
  ThrowingMove() = default;
  ThrowingMove(ThrowingMove&& other) noexcept(false) : value(other.value) {
    if (armed) throw std::runtime_error("moved");
  }
  int operator()() const { return value; }
  int value = 5;
  static inline bool armed = false;
};

TEST(UniqueFunction, NeverThrowsWhenMovedEvenIfTheCaptureWould) {
  UniqueFunction<int()> function{ThrowingMove()};
  ThrowingMove::armed = true;
  UniqueFunction<int()> moved(std::move(function));
  EXPECT_EQ(moved(), 5);
  EXPECT_THROW(UniqueFunction<int()>{ThrowingMove()}, std::runtime_error);
  ThrowingMove::armed = false;
  static_assert(std::is_nothrow_move_constructible_v<UniqueFunction<int()>>);
  static_assert(std::is_nothrow_move_assignable_v<UniqueFunction<int()>>);
  static_assert(!std::is_copy_constructible_v<UniqueFunction<int()>>);
}

int twice(int x) { return 2 * x; }
struct Number {
  int value;
  int plus(int x) const { return value + x; }
};

TEST(UniqueFunction, TakesFunctionsAndMembers) {
  EXPECT_EQ(UniqueFunction<int(int)>(twice)(4), 8);
  EXPECT_EQ(UniqueFunction<int(int)>(&twice)(4), 8);
  EXPECT_EQ((UniqueFunction<int(const Number&, int)>(&Number::plus)(Number{3}, 4)), 7);
  EXPECT_EQ((UniqueFunction<int(const Number&)>(&Number::value)(Number{3})), 3);
}

TEST(UniqueFunction, PassesReferencesAndMoveOnlyArguments) {
  UniqueFunction<void(std::string&, std::unique_ptr<int>)> append(
      [](std::string& text, std::unique_ptr<int> n) { text += std::to_string(*n); });
  std::string text = "n=";
  append(text, std::make_unique<int>(7));
  EXPECT_EQ(text, "n=7");
  UniqueFunction<void(int)> drops_the_result(twice);
  drops_the_result(1);
}

TEST(UniqueFunction, AnEmptyOneIsMisuseToCall) {
  UniqueFunction<void()> empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty(), std::logic_error);
  EXPECT_FALSE(UniqueFunction<void()>(nullptr));
  int (*no_function)(int) = nullptr;
  EXPECT_FALSE(UniqueFunction<int(int)>(no_function));
}

TEST(UniqueFunction, LetsExceptionsThroughAndStaysUsable) {
  int calls = 0;
  UniqueFunction<void()> function([&] {
    if (++calls == 1) throw std::runtime_error("first");
  });
  EXPECT_THROW(function(), std::runtime_error);
  function();
  EXPECT_EQ(calls, 2);
}

TEST(UniqueFunction, IsEmptyWhileItsCaptureIsDestroyed) {
  struct Looks {
    UniqueFunction<void()>** function;
    bool* was_empty;
    Looks(UniqueFunction<void()>** f, bool* e) : function(f), was_empty(e) {}
    Looks(Looks&& other) noexcept
        : function(std::exchange(other.function, nullptr)), was_empty(other.was_empty) {}
    ~Looks() {
      if (function != nullptr && *function != nullptr) *was_empty = !static_cast<bool>(**function);
    }
    void operator()() const {}
  };
  bool was_empty = false;
  UniqueFunction<void()>* self = nullptr;
  UniqueFunction<void()> function{Looks(&self, &was_empty)};
  self = &function;
  function = nullptr;
  EXPECT_TRUE(was_empty);
}

}}  // namespace unique_function_test
