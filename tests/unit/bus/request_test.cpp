// SPDX-License-Identifier: MIT
//
// Requests: answered, answered later, not answered, late, refused. None hangs.
#include "support/test.hpp"

namespace request_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

struct Square {
  int number = 0;
};
struct Name {
  std::unique_ptr<std::string> text;
};
using Squared = Request<Square, int>;
using Greeting = Request<Name, std::string>;
using Done = Request<int, void>;

template <class Policies>
struct RequestTest : testing::Test {
  using Bus = BasicMessageBus<Policies, Squared, Greeting, Done>;
};
using Orders = testing::Types<BusPolicies, LanedBusPolicies>;
TYPED_TEST_SUITE(RequestTest, Orders);

template <class R>
std::optional<Status> why_not_run(Future<R> future) {
  if (!future.is_ready()) return std::nullopt;
  const auto not_run = test::caught<NotRun>(future);
  return not_run ? not_run->status() : Status::ok;
}

const auto kAnswers = overloaded{
    [](Squared& r) { EXPECT_TRUE(r.reply(r.question.number * r.question.number)); },
    [](Greeting& r) { EXPECT_TRUE(r.reply("hello " + *r.question.text)); },
    [](Done& r) { EXPECT_TRUE(r.reply()); },
};
const auto kIgnores = [](auto&) {};

TYPED_TEST(RequestTest, Answered) {
  typename TestFixture::Bus bus;
  auto producer = bus.producer();
  auto squared = bus.template request<int>(Square{7}, {.admission = Admission::urgent}, 1h);
  auto greeting =
      producer.template request<std::string>(Name{std::make_unique<std::string>("you")}, 1h);
  auto done = producer.template request<void>(3);
  EXPECT_FALSE(squared.is_ready());
  EXPECT_EQ(bus.drain(kAnswers), 3U);
  EXPECT_EQ(squared.get(), 49);
  EXPECT_EQ(greeting.get(), "hello you");
  done.get();
}

TYPED_TEST(RequestTest, TheFirstSubscriberAnswers) {
  typename TestFixture::Bus bus;
  bool again = true;
  const auto first = bus.template subscribe<Squared>([](const Squared& r) { r.reply(1); });
  const auto second =
      bus.template subscribe<Squared>([&](const Squared& r) { again = r.reply(2); });
  auto future = bus.template request<int>(Square{});
  EXPECT_EQ(bus.drain(), 1U);
  EXPECT_EQ(future.get(), 1);
  EXPECT_FALSE(again);
}

TYPED_TEST(RequestTest, AnsweredLaterOrWithAnError) {
  typename TestFixture::Bus bus;
  Answer<int> kept;
  auto later = bus.template request<int>(Square{});
  auto failed = bus.template request<void>(1);
  bus.drain(overloaded{[&](Squared& r) {
                         kept = r.take_answer();
                         EXPECT_FALSE(r.reply(1)) << "it is taken";
                       },
                       [](Greeting&) {},
                       [](Done& r) {
                         EXPECT_THROW(r.fail(nullptr), Misuse);
                         EXPECT_TRUE(r.fail(std::make_exception_ptr(std::domain_error("no"))));
                         EXPECT_FALSE(r.fail(nullptr));
                       }});
  EXPECT_FALSE(later.is_ready());
  EXPECT_THROW(kept.drop(Status::ok), Misuse);
  EXPECT_THROW(failed.get(), std::domain_error);
  std::jthread other([answer = std::move(kept)]() mutable { EXPECT_TRUE(answer.reply(5)); });
  EXPECT_EQ(later.get(), 5);
}

TYPED_TEST(RequestTest, NotAnswered) {
  Future<int> left;
  {
    typename TestFixture::Bus bus;
    auto unheard = bus.template request<int>(Square{});
    EXPECT_EQ(bus.drain(), 1U);
    EXPECT_EQ(why_not_run(std::move(unheard)), Status::stopped) << "no subscriber";
    auto ignored = bus.template request<int>(Square{});
    EXPECT_EQ(bus.drain(kIgnores), 1U);
    EXPECT_EQ(why_not_run(std::move(ignored)), Status::stopped);
    auto thrown = bus.template request<int>(Square{});
    EXPECT_THROW(bus.drain([](auto&) { throw std::runtime_error("as asked"); }),
                 std::runtime_error);
    EXPECT_EQ(why_not_run(std::move(thrown)), Status::stopped);
    left = bus.template request<int>(Square{});
  }
  EXPECT_EQ(why_not_run(std::move(left)), Status::stopped) << "its bus is gone";
}

TYPED_TEST(RequestTest, ClosedInEachStrength) {
  for (const Closing& how : {Closing::finish, Closing::abandon, Closing::finish_until(0s)}) {
    typename TestFixture::Bus bus;
    auto future = bus.template request<int>(Square{4});
    const Tally tally = bus.close(how, kAnswers);
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.pending, 0U);
    const Status expected = !how.begins_more                    ? Status::stopped
                            : how.deadline != sync::no_deadline ? Status::timed_out
                                                                : Status::ok;
    EXPECT_EQ(why_not_run(std::move(future)), expected);
    EXPECT_EQ(why_not_run(bus.template request<int>(Square{4})), Status::closed);
  }
}

TYPED_TEST(RequestTest, Late) {
  typename TestFixture::Bus bus;
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  auto late = bus.template request<int>(Square{1}, 0ms);
  auto stopped = bus.template request<int>(Square{2}, stop);
  auto asked = bus.template request<int>(Square{3}, {1h, stop});
  source.request_stop();
  auto in_time = bus.template request<int>(Square{4}, 1h);
  EXPECT_EQ(bus.drain(kAnswers), 1U);
  EXPECT_EQ(why_not_run(std::move(late)), Status::timed_out);
  EXPECT_EQ(why_not_run(std::move(stopped)), Status::stopped);
  EXPECT_EQ(why_not_run(std::move(asked)), Status::stopped);
  EXPECT_EQ(in_time.get(), 16);
  EXPECT_TRUE(test::came_to(bus.tally(), {.done = 1, .cancelled = 2, .expired = 1}));
}

// What has lapsed does not keep a drain of a few from what has not.
TYPED_TEST(RequestTest, ALateOneTakesNoTurnOfADrain) {
  typename TestFixture::Bus bus;
  auto late = bus.template request<int>(Square{1}, 0ms);
  auto in_time = bus.template request<int>(Square{2});
  EXPECT_EQ(bus.drain(kAnswers, 1), 1U);
  EXPECT_EQ(why_not_run(std::move(late)), Status::timed_out);
  EXPECT_EQ(in_time.get(), 4);
}

TYPED_TEST(RequestTest, Refused) {
  typename TestFixture::Bus bus({.capacity = 1});
  auto first = bus.template request<int>(Square{1});
  Name name{std::make_unique<std::string>("you")};
  EXPECT_EQ(why_not_run(bus.template request<std::string>(std::move(name))), Status::full);
  EXPECT_NE(name.text, nullptr) << "the question is still the caller's";
  EXPECT_EQ(bus.drain(kAnswers), 1U);
  EXPECT_EQ(first.get(), 1);
}

}}  // namespace request_test
