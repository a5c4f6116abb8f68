// SPDX-License-Identifier: MIT
//
// The first of several Futures.
#include <handoff/core/internal/promise.hpp>

#include "support/future_host.hpp"
#include "support/test.hpp"

namespace { namespace first {

using namespace handoff;
using namespace test;
using detail::Promise;

TEST(WhenAnyTest, TheFirstThatIsReadyWinsAndTheOthersEndUnread) {
  std::vector<Future<std::shared_ptr<int>>> parts(3);
  std::vector<Promise<std::shared_ptr<int>>> promises;
  for (auto& part : parts) promises.emplace_back(part);
  auto any = when_any(std::move(parts));
  EXPECT_FALSE(any.is_ready());
  promises[1].set_value(std::make_shared<int>(7));
  ASSERT_TRUE(any.is_ready());
  const auto late = std::make_shared<int>(8);
  promises[2].set_value(late);
  promises[0].drop(Status::stopped);
  auto [index, value] = any.get();
  EXPECT_EQ(index, 1U);
  EXPECT_EQ(*value, 7);
  EXPECT_EQ(late.use_count(), 1);
}

TEST(WhenAnyTest, WhatIsReadyBeforehandWinsByItsPlace) {
  Host host;
  auto late = host.submit([] { return 1; });
  auto ready = host.submit([] { return 2; });
  auto later = host.submit([] { return 3; });
  host.run_all();
  const auto [index, value] = when_any(std::move(late), std::move(ready), std::move(later)).get();
  EXPECT_EQ(index, 0U);
  EXPECT_EQ(value, 1);
}

TEST(WhenAnyTest, AFailureWinsUnlessItIsReplaced) {
  Future<int> bad;
  Future<int> good;
  Promise<int> fails(bad);
  Promise<int> comes(good);
  auto any = when_any(std::move(bad), std::move(good));
  fails.set_exception(std::make_exception_ptr(std::out_of_range("far")));
  EXPECT_THROW((void)any.get(), std::out_of_range);
  comes.set_value(1);

  Future<void> dropped;
  Promise<void>(dropped).drop(Status::timed_out);
  auto of_dropped = when_any(std::move(dropped));
  EXPECT_EQ(why_not_run(of_dropped), Status::timed_out);
}

TEST(WhenAnyTest, ResultsMayBeNothingReferencesAndMoved) {
  int target = 4;
  Future<int&> refers;
  Promise<int&>(refers).set_value(target);
  EXPECT_EQ(&when_any(std::move(refers)).get().value, &target);
  EXPECT_EQ(when_any(ready_future()).get().index, 0U);
  EXPECT_EQ(*when_any(ready_future(std::make_unique<int>(5))).get().value, 5);
}

TEST(WhenAnyTest, OfNoneAndOfEmptyOnesIsMisuse) {
  EXPECT_THROW((void)when_any(std::vector<Future<int>>()), std::logic_error);
  EXPECT_THROW((void)when_any(std::vector<Future<int>>(2)), std::logic_error);
}

TEST(WhenAnyTest, ATaskThatWaitsRunsPartsUntilOneIsReady) {
  Host host;
  const Place place(host);
  std::vector<Future<int>> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(host.submit([i] { return i; }));
  EXPECT_EQ(when_any(std::move(parts)).get().index, 0U);
  EXPECT_EQ(host.visits.size(), 1U);
  host.run_all();
  EXPECT_EQ(host.outcomes.size(), 3U);
}

TEST(WhenAnyTest, BehindItOtherFuturesFollow) {
  Host host;
  auto one = host.submit([] { return 2; });
  auto other = host.submit([] { return 3; });
  auto any = when_any(std::move(one), std::move(other)).then([](FirstResult<int> result) {
    return result.value * 2;
  });
  auto both = when_all(std::move(any), host.submit([] { return 1; }));
  host.run_all();
  EXPECT_EQ(std::get<0>(both.get()), 4);
}

TEST(WhenAnyTest, TakesFuturesOfAnyRange) {
  Host host;
  std::list<Future<int>> list;
  for (int i = 0; i < 3; ++i) list.push_back(host.submit([i] { return i; }));
  auto any = when_any(std::move(list));
  std::vector<Future<int>> there;
  for (int i = 0; i < 2; ++i) there.push_back(host.submit([i] { return i; }));
  auto of_view = when_any(std::span(there));
  EXPECT_FALSE(there[0].valid() || there[1].valid());
  host.run_all();
  EXPECT_EQ(any.get().value + of_view.get().value, 0);
  EXPECT_THROW((void)when_any(std::list<Future<int>>()), std::logic_error);
}

// The first and only the first wins; when all have ended nothing is left of them.
TEST(WhenAnyTest, TenThousandLeaveNothingBehind) {
  const auto shared = std::make_shared<int>(1);
  std::vector<Future<std::shared_ptr<int>>> parts(10'000);
  std::vector<Promise<std::shared_ptr<int>>> promises;
  for (auto& part : parts) promises.emplace_back(part);
  auto any = when_any(std::move(parts));
  for (std::size_t i = 0; i < promises.size(); ++i) promises[(i + 77) % 10'000].set_value(shared);
  EXPECT_EQ(any.get().index, 77U);
  EXPECT_EQ(shared.use_count(), 1);
}

}}  // namespace ::first
