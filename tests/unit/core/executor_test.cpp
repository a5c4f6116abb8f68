// SPDX-License-Identifier: MIT
//
// The concept Executor: what models it and what does not; and the inline executor.
#include "support/test.hpp"

namespace {

using namespace handoff;

struct Queue {
  template <class F>
  Status try_post(F&& function) {
    functions.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  std::size_t width() const { return 1; }
  std::vector<UniqueFunction<void()>> functions;
};
static_assert(Executor<Queue>);
static_assert(Executor<InlineExecutor>);

struct SaysNothing {
  template <class F>
  void try_post(F&& function);
  std::size_t width() const;
};
static_assert(!Executor<SaysNothing>);

struct HasNoWidth {
  template <class F>
  Status try_post(F&& function);
};
static_assert(!Executor<HasNoWidth>);

static_assert(!Executor<int>);

TEST(InlineExecutor, CallsAtOnceAndHere) {
  InlineExecutor here;
  std::thread::id ran;
  EXPECT_EQ(here.try_post([&] { ran = std::this_thread::get_id(); }), Status::ok);
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(here.width(), 1U);
}

TEST(InlineExecutor, TheFunctionEndsBeforeTheReturn) {
  auto owned = std::make_shared<int>();
  std::function<void()> function = [owned] {};
  EXPECT_EQ(InlineExecutor().try_post(std::move(function)), Status::ok);
  EXPECT_EQ(owned.use_count(), 1) << "as with any executor, it is not the caller's any more";
}

TEST(InlineExecutor, TakesWhatOnlyMovesAndNests) {
  InlineExecutor here;
  int sum = 0;
  const Status status = here.try_post([&, one = std::make_unique<int>(1)] {
    sum += *one;
    EXPECT_EQ(here.try_post([&] { sum += 2; }), Status::ok);
  });
  EXPECT_EQ(status, Status::ok);
  EXPECT_EQ(sum, 3);
}

TEST(InlineExecutor, WhatTheFunctionThrowsLeavesIt) {
  EXPECT_THROW((void)InlineExecutor().try_post([] { throw std::runtime_error("planned"); }),
               std::runtime_error);
}

}  // namespace
