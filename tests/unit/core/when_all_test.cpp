// SPDX-License-Identifier: MIT
//
// Several Futures as one: parts of one type, and parts of any types.
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <ranges>
#include <variant>

#include "support/failing.hpp"
#include "support/future_host.hpp"
#include "support/test.hpp"

namespace { namespace parts {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using detail::Outcome;
using detail::Promise;

// ---- Of one type, any number --------------------------------------------------------------------

TEST(WhenAllTest, GathersWhatComesFromAnywhere) {
  Host host;
  std::vector<Future<int>> parts(2);
  Promise<int> promise(parts[0]);
  Promise<int>(parts[1]).drop(Status::stopped);
  parts.push_back(host.submit([] { return 3; }));
  auto all = when_all(std::move(parts));
  EXPECT_FALSE(all.is_ready());
  host.run_all();
  EXPECT_FALSE(all.is_ready());
  promise.set_value(1);
  auto ready = all.get();
  ASSERT_EQ(ready.size(), 3U);
  EXPECT_EQ(ready[0].get(), 1);
  EXPECT_EQ(why_not_run(ready[1]), Status::stopped);
  EXPECT_EQ(ready[2].get(), 3);
  EXPECT_TRUE(when_all(std::vector<Future<int>>()).is_ready());
  EXPECT_THROW((void)when_all(std::vector<Future<int>>(1)), std::logic_error);
}

TEST(WhenAllTest, GathersFuturesOfAnyRange) {
  Host host;
  const std::vector<int> numbers{1, 2, 3};
  auto made = when_all(
      numbers | std::views::transform([&host](int n) { return host.submit([n] { return n; }); }));
  Future<int> array[2] = {host.submit([] { return 4; }), host.submit([] { return 5; })};
  auto of_array = when_all(std::move(array));
  std::vector<Future<int>> there;
  there.push_back(host.submit([] { return 6; }));
  auto of_view = when_all(std::span(there));
  EXPECT_FALSE(there[0].valid());
  host.run_all();
  int sum = 0;
  for (auto* all : {&made, &of_array, &of_view}) {
    for (Future<int>& part : all->get()) sum += part.get();
  }
  EXPECT_EQ(sum, 21);
  static_assert(!detail::FutureRange<std::vector<Future<int>>&>, "only what is given away");
  static_assert(!detail::FutureRange<const std::vector<Future<int>>>);
  static_assert(!detail::FutureRange<std::vector<int>>);
  EXPECT_THROW((void)when_all(std::list<Future<int>>(1)), std::logic_error);
}

// ---- Of any types -------------------------------------------------------------------------------

TEST(WhenAllTest, GivesTheResultsOfAnyTypesInTheirOrder) {
  Host host;
  Future<std::unique_ptr<int>> only_moved;
  Promise<std::unique_ptr<int>> promise(only_moved);
  int target = 4;
  auto all = when_all(host.submit([] { return std::string("first"); }), std::move(only_moved),
                      host.submit([&target]() -> int& { return target; }), host.submit([] {}));
  static_assert(
      std::is_same_v<decltype(all.get()),
                     std::tuple<std::string, std::unique_ptr<int>, int&, std::monostate>>);
  host.run_all();
  EXPECT_FALSE(all.is_ready());
  promise.set_value(std::make_unique<int>(2));
  ASSERT_TRUE(all.is_ready());
  auto [text, pointer, reference, nothing] = all.get();
  EXPECT_EQ(text, "first");
  EXPECT_EQ(*pointer, 2);
  EXPECT_EQ(&reference, &target);
  EXPECT_EQ(nothing, std::monostate());
  EXPECT_FALSE(all.valid());
}

TEST(WhenAllTest, OnePartIsATupleOfOne) {
  Host host;
  auto all = when_all(host.submit([] { return 1; }));
  EXPECT_FALSE(all.is_ready());
  host.run_all();
  EXPECT_EQ(all.get(), std::tuple(1));
}

TEST(WhenAllTest, IsReadyAtOnceIfAllPartsAre) {
  Host host;
  auto one = host.submit([] { return 1; });
  auto two = host.submit([] { return 2L; });
  host.run_all();
  auto all = when_all(std::move(one), std::move(two));
  EXPECT_TRUE(all.is_ready());
  EXPECT_EQ(all.get(), std::tuple(1, 2L));
}

TEST(WhenAllTest, FailsAsTheFirstInOrderOnceAllAreThere) {
  Host host;
  Future<int> last;
  Promise<int> promise(last);
  auto all =
      when_all(host.submit([] { return 1; }), host.submit([]() -> long { throw 5; }),
               host.submit([] { throw std::runtime_error("the second one"); }), std::move(last));
  host.run_all();
  EXPECT_FALSE(all.is_ready());
  promise.drop(Status::stopped);
  EXPECT_THROW((void)all.get(), int);
}

TEST(WhenAllTest, IsDroppedWithAPart) {
  for (const Outcome why : {Outcome::cancelled, Outcome::expired}) {
    Host host;
    auto all = when_all(ready_future(1), host.submit([] { return 2; }));
    bool ran = false;
    auto next = std::move(all).then([&ran](const std::tuple<int, int>&) { ran = true; });
    host.drop_all(why);
    EXPECT_EQ(why_not_run(next), detail::reason_of(why));
    EXPECT_FALSE(ran);
  }
}

struct StaysWhereItIs {
  StaysWhereItIs() = default;
  StaysWhereItIs(StaysWhereItIs&&) { throw std::runtime_error("stays"); }
};

TEST(WhenAllTest, AResultThatDoesNotMoveIsAFailure) {
  Host host;
  auto all = when_all(host.submit([] { return 1; }), host.submit([] { return StaysWhereItIs(); }));
  host.run_all();
  EXPECT_THROW((void)all.get(), std::runtime_error);
}

// What a part kept is gone when somebody hears of the result, whether it went into that or not.
TEST(WhenAllTest, ThePartsEndBeforeAnybodyHears) {
  const auto token = std::make_shared<int>(1);
  for (const bool fails : {false, true}) {
    Host host;
    auto all = when_all(host.submit([token] { return token; }), host.submit([fails] {
      if (fails) throw 5;
    }));
    host.run_all();
    EXPECT_EQ(token.use_count(), fails ? 1 : 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(WhenAllTest, AnEmptyPartIsMisuse) {
  const auto token = std::make_shared<int>(1);
  {
    Host host;
    EXPECT_THROW((void)when_all(host.submit([token] { return 1; }), Future<long>()),
                 std::logic_error);
    EXPECT_THROW((void)when_all(Future<long>()), std::logic_error);
    host.run_all();
    EXPECT_EQ(host.outcomes.size(), 1U) << "the other one is a task as before";
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(WhenAllTest, AllocatesOnce) {
  Future<int> one;
  Future<void> two;
  Promise<int> first(one);
  Promise<void> second(two);
  const std::size_t before = test::calls(test::Call::allocation);
  auto all = when_all(std::move(one), std::move(two));
  EXPECT_EQ(test::calls(test::Call::allocation) - before, 1U);
  first.set_value(1);
  second.set_value();
  EXPECT_EQ(std::get<0>(all.get()), 1);
  EXPECT_EQ(test::calls(test::Call::allocation) - before, 1U);
  test::until_enough_memory(
      [] { EXPECT_EQ(when_all(ready_future(1), ready_future(2L)).get(), std::tuple(1, 2L)); });
}

}}  // namespace ::parts
