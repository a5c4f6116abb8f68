// SPDX-License-Identifier: MIT
//
// UniqueFunction and CopyableFunction: what each holds, where, and how often it moves, copies and
// destroys it.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace function_test { namespace {

using namespace handoff;

struct Unique {
  template <class Signature>
  using Function = UniqueFunction<Signature>;
};
struct Copyable {
  template <class Signature>
  using Function = CopyableFunction<Signature>;
};

// ---- Of both ------------------------------------------------------------------------------------

template <class Kind>
class AnyFunction : public testing::Test {
 protected:
  template <class Signature>
  using Function = typename Kind::template Function<Signature>;
};
using Kinds = testing::Types<Unique, Copyable>;
TYPED_TEST_SUITE(AnyFunction, Kinds);

#define FUNCTION typename TestFixture::template Function

TYPED_TEST(AnyFunction, MovedFromItIsEmpty) {
  FUNCTION<int(int)> add([one = 1](int x) { return one + x; });
  FUNCTION<int(int)> moved(std::move(add));
  EXPECT_FALSE(add);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
  EXPECT_EQ(moved(41), 42);
  add = std::move(moved);
  EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
  EXPECT_EQ(add(1), 2);
  static_assert(std::is_nothrow_move_constructible_v<FUNCTION<int()>>);
  static_assert(std::is_nothrow_move_assignable_v<FUNCTION<int()>>);
}

int twice(int x) { return 2 * x; }
struct Number {
  int value;
  int plus(int x) const { return value + x; }
};

TYPED_TEST(AnyFunction, TakesFunctionsAndMembers) {
  EXPECT_EQ(FUNCTION<int(int)>(twice)(4), 8);
  EXPECT_EQ(FUNCTION<int(int)>(&twice)(4), 8);
  EXPECT_EQ((FUNCTION<int(const Number&, int)>(&Number::plus)(Number{3}, 4)), 7);
  EXPECT_EQ((FUNCTION<int(const Number&)>(&Number::value)(Number{3})), 3);
}

TYPED_TEST(AnyFunction, PassesReferencesAndMoveOnlyArguments) {
  FUNCTION<void(std::string&, std::unique_ptr<int>)> append(
      [](std::string& text, std::unique_ptr<int> n) { text += std::to_string(*n); });
  std::string text = "n=";
  append(text, std::make_unique<int>(7));
  EXPECT_EQ(text, "n=7");
  FUNCTION<void(int)> drops_the_result(twice);
  drops_the_result(1);
}

TYPED_TEST(AnyFunction, AnEmptyOneIsMisuseToCall) {
  FUNCTION<void()> empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty(), std::logic_error);
  EXPECT_FALSE(FUNCTION<void()>(nullptr));
  int (*no_function)(int) = nullptr;
  EXPECT_FALSE(FUNCTION<int(int)>(no_function));
}

TYPED_TEST(AnyFunction, LetsExceptionsThroughAndStaysUsable) {
  int calls = 0;
  FUNCTION<void()> function([&] {
    if (++calls == 1) throw std::runtime_error("first");
  });
  EXPECT_THROW(function(), std::runtime_error);
  function();
  EXPECT_EQ(calls, 2);
}

template <std::size_t bytes>
struct Capture {
  std::array<unsigned char, bytes> filler{};
};

struct Counted {
  int* made;
  int* ended;
  Counted(int* m, int* e) : made(m), ended(e) { ++*made; }
  Counted(const Counted& other) noexcept : made(other.made), ended(other.ended) { ++*made; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { ++*ended; }
};

template <class Function, std::size_t extra>
void expect_each_made_is_ended() {
  int made = 0;
  int ended = 0;
  {
    Function a([c = Counted(&made, &ended), big = Capture<extra>()] {
      return static_cast<int>(big.filler.size()) + (c.made != nullptr ? 1 : 0);
    });
    EXPECT_EQ(made - ended, 1);
    Function b(std::move(a));
    Function c;
    c = std::move(b);
    Function& same = c;
    c = std::move(same);
    EXPECT_EQ(c(), static_cast<int>(extra) + 1);
    EXPECT_EQ(made - ended, 1);
    if constexpr (std::is_copy_constructible_v<Function>) {
      Function d(c);
      EXPECT_EQ(made - ended, 2);
      a = d;
      EXPECT_EQ(made - ended, 3);
      a = std::as_const(a);
      EXPECT_EQ(made - ended, 3);
      a = std::move(d);
      EXPECT_EQ(made - ended, 2);
      a = nullptr;
    }
    c = nullptr;
    EXPECT_EQ(made - ended, 0);
  }
  EXPECT_EQ(made, ended);
}

TYPED_TEST(AnyFunction, EndsExactlyWhatItMade) {
  expect_each_made_is_ended<FUNCTION<int()>, 1>();
  expect_each_made_is_ended<FUNCTION<int()>, 100>();
}

// ---- Of UniqueFunction --------------------------------------------------------------------------

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
  UniqueFunction<int(int)> moved = std::move(add);
  EXPECT_EQ(moved(1), 2);
  static_assert(!std::is_copy_constructible_v<UniqueFunction<int()>>);
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

// ---- Of CopyableFunction ------------------------------------------------------------------------

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
  const CopyableFunction<int()> empty;
  EXPECT_FALSE(CopyableFunction<int()>(empty));
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
}

}}  // namespace function_test
