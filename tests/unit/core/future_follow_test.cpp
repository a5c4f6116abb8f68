// SPDX-License-Identifier: MIT
//
// What follows a result: functions that return Futures, what stands in for a failure; and tasks
// that are dropped by their Futures.
#include <gtest/gtest.h>

#include <exception>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/not_run.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "support/future_host.hpp"

namespace { namespace follow {

using namespace handoff;
using detail::Outcome;
using detail::Promise;
using test::Host;
using test::Place;
using test::why_not_run;

// ---- A function that returns a Future -----------------------------------------------------------

TEST(ThenTest, AFutureOfAFutureIsOne) {
  Host host;
  auto sum = host.submit([] { return 1; }).then([&host](int one) {
    return host.submit([one] { return one + 1; });
  });
  static_assert(std::is_same_v<decltype(sum), Future<int>>);
  host.run_next();
  EXPECT_FALSE(sum.is_ready());
  host.run_next();
  EXPECT_EQ(sum.get(), 2);
}

TEST(ThenTest, AFutureThatIsReadyIsTakenAtOnce) {
  Host host;
  auto before = host.submit([] {});
  host.run_all();
  auto text = std::move(before).then([] {
    Future<std::unique_ptr<int>> ready;
    Promise<std::unique_ptr<int>>(ready).set_value(std::make_unique<int>(4));
    return ready;
  });
  ASSERT_TRUE(text.is_ready());
  EXPECT_EQ(*text.get(), 4);
}

TEST(ThenTest, WhatFailsOnTheWayIsTheFailureOfTheWhole) {
  Host host;
  const auto fails = [&host](bool outer, bool inner) {
    return host
        .submit([outer] {
          if (outer) throw std::out_of_range("outer");
        })
        .then([&host, inner] {
          return host.submit([inner] {
            if (inner) throw std::domain_error("inner");
          });
        });
  };
  auto outer = fails(true, false);
  auto inner = fails(false, true);
  auto dropped = fails(false, false);
  for (int i = 0; i < 3; ++i) host.run_next();
  host.run_next();
  host.drop_all(Outcome::expired);
  EXPECT_THROW(outer.get(), std::out_of_range);
  EXPECT_THROW(inner.get(), std::domain_error);
  EXPECT_EQ(why_not_run(dropped), Status::timed_out);
}

TEST(ThenTest, AnEmptyFutureThatIsReturnedIsMisuse) {
  Host host;
  auto none = host.submit([] {}).then([] { return Future<int>(); });
  host.run_all();
  EXPECT_THROW((void)none.get(), std::logic_error);
}

TEST(ThenTest, ATaskThatWaitsRunsBoth) {
  Host host;
  const Place place(host);
  auto sum = host.submit([] { return 1; }).then([&host](int one) {
    return host.submit([one] { return one + 1; });
  });
  EXPECT_EQ(sum.get(), 2);
  EXPECT_EQ(host.visits.size(), 2U);
}

TEST(ThenTest, ALongChainOfThemNeedsNoDeepStack) {
  Host host;
  auto sum = host.submit([] { return 0; });
  for (int i = 0; i < 20'000; ++i) {
    sum = std::move(sum).then([](int before) {
      Future<int> next;
      Promise<int>(next).set_value(before + 1);
      return next;
    });
  }
  host.run_all();
  EXPECT_EQ(sum.get(), 20'000);
}

// ---- In place of a failure ----------------------------------------------------------------------

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(OnFailureTest, GivesAnotherResult) {
  Host host;
  auto threw = host.submit([]() -> std::string { throw std::out_of_range("far"); });
  auto dropped = host.submit([] { return std::string("run"); });
  host.run_next();
  host.drop_all(Outcome::cancelled);
  EXPECT_EQ(std::move(threw).on_failure(&text_of).get(), "far");
  EXPECT_EQ(std::move(dropped).on_failure(&text_of).get(), "the task did not run: stopped");
}

TEST(OnFailureTest, LeavesAResultAlone) {
  Host host;
  int calls = 0;
  auto moved = host.submit([] { return std::make_unique<int>(3); })
                   .on_failure([&calls](const std::exception_ptr&) {
                     ++calls;
                     return nullptr;
                   });
  auto nothing = host.submit([] {}).on_failure([&calls](const std::exception_ptr&) { ++calls; });
  host.run_all();
  EXPECT_EQ(*moved.get(), 3);
  nothing.get();
  EXPECT_EQ(calls, 0);
}

TEST(OnFailureTest, MayFailItself) {
  Host host;
  auto fails =
      host.submit([]() -> int { throw std::out_of_range("far"); })
          .on_failure([](const std::exception_ptr&) -> int { throw std::domain_error("wide"); });
  host.run_all();
  EXPECT_THROW((void)fails.get(), std::domain_error);
}

// ---- Dropped by its Future ----------------------------------------------------------------------

TEST(CancelTest, DropsATaskThatHasNotBegun) {
  Host host;
  const auto held = std::make_shared<int>(1);
  auto task = host.submit([held] { return *held; });
  EXPECT_TRUE(task.cancel());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(task.cancel());
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_EQ(why_not_run(task), Status::stopped);
  host.run_all();
  EXPECT_EQ(host.outcomes, std::vector{Outcome::elsewhere});
}

TEST(CancelTest, TellsWhatFollows) {
  Host host;
  auto task = host.submit([] { return 1; });
  Future<int> empty;
  EXPECT_FALSE(empty.cancel());
  auto copy = host.submit([] { return 1; });
  auto next = std::move(copy).then([](int one) { return one; });
  EXPECT_FALSE(next.cancel());  // no executor has it
  EXPECT_TRUE(task.cancel());
  auto after = std::move(task).then([](int one) { return one; });
  EXPECT_EQ(why_not_run(after), Status::stopped);
  host.run_all();
  EXPECT_EQ(next.get(), 1);
}

TEST(CancelTest, ATaskThatHasRunStays) {
  Host host;
  auto task = host.submit([] { return 1; });
  host.run_all();
  EXPECT_FALSE(task.cancel());
  EXPECT_EQ(task.get(), 1);
}

}}  // namespace ::follow
