// SPDX-License-Identifier: MIT
//
// A result for many readers.
#include <handoff/core/internal/promise.hpp>

#include "support/future_host.hpp"
#include "support/test.hpp"

namespace { namespace shared {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using detail::Promise;

TEST(SharedFutureTest, ManyThreadsReadOneResult) {
  Future<std::string> future;
  Promise<std::string> promise(future);
  const auto result = std::move(future).share();
  EXPECT_FALSE(future.valid());
  std::atomic<const std::string*> seen{nullptr};
  std::atomic<int> same{0};
  test::Crew readers(64, [result, &seen, &same] {
    const std::string* const mine = &result.get();
    const std::string* none = nullptr;
    if (seen.compare_exchange_strong(none, mine) || none == mine) ++same;
  });
  EXPECT_FALSE(result.is_ready());
  promise.set_value("read by all");
  readers.join();
  EXPECT_EQ(same.load(), 64);
  EXPECT_EQ(result.get(), "read by all");
}

TEST(SharedFutureTest, TheLastCopyEndsTheResult) {
  const auto kept = std::make_shared<int>(1);
  Host host;
  auto one = host.submit([kept] { return kept; }).share();
  host.run_all();
  SharedFuture<std::shared_ptr<int>> other = one;
  SharedFuture<std::shared_ptr<int>> moved = std::move(one);
  EXPECT_FALSE(one.valid());
  other = {};
  EXPECT_EQ(kept.use_count(), 2);
  moved = SharedFuture<std::shared_ptr<int>>();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(SharedFutureTest, EachReaderHearsOfAFailure) {
  Host host;
  const auto failed = host.submit([]() -> int { throw std::out_of_range("far"); }).share();
  const auto dropped = host.submit([] {}).share();
  host.run_next();
  host.drop_all(detail::Outcome::expired);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW((void)failed.get(), std::out_of_range);
    EXPECT_THROW(dropped.get(), NotRun);
  }
}

TEST(SharedFutureTest, ResultsMayBeNothingAndReferences) {
  int target = 0;
  Host host;
  const auto refers = host.submit([&target]() -> int& { return target; }).share();
  const auto nothing = host.submit([] {}).share();
  host.run_all();
  static_assert(std::is_same_v<decltype(refers.get()), int&>);
  static_assert(std::is_void_v<decltype(nothing.get())>);
  EXPECT_EQ(&refers.get(), &target);
  nothing.get();
}

TEST(SharedFutureTest, WaitsEndEarly) {
  Future<int> future;
  const Promise<int> promise(future);
  const SharedFuture<int> result(std::move(future));
  EXPECT_EQ(result.wait(1ms), Status::timed_out);
}

TEST(SharedFutureTest, ATaskThatWaitsRunsWhatNobodyHasBegun) {
  Host host;
  const Place place(host);
  const auto result = host.submit([] { return 2; }).then([](int n) { return n + 1; }).share();
  EXPECT_EQ(result.get(), 3);
  EXPECT_EQ(host.visits.size(), 1U);
}

TEST(SharedFutureTest, AnEmptyOneIsMisuse) {
  const SharedFuture<int> none;
  EXPECT_FALSE(none.valid());
  EXPECT_THROW((void)none.get(), std::logic_error);
  EXPECT_THROW((void)Future<int>().share(), std::logic_error);
}

}}  // namespace ::shared
