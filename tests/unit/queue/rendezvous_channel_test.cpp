// SPDX-License-Identifier: MIT
//
// RendezvousChannel: who meets whom, and what ends a wait. The suites of tests/conformance have
// refusals, closes and stress.
#include "books/queue_books.hpp"
#include "support/failing.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::idle_until;

template <class Channel>
using Meeting = detail::Books<Channel>;

static_assert(!std::is_copy_constructible_v<RendezvousChannel<int>>);
static_assert(std::input_iterator<RendezvousChannel<int>::Iterator>);

// Until so many pushes, or pops, stand in line.
template <class T>
void wait_for_pushes(RendezvousChannel<T>& channel, std::size_t count) {
  idle_until([&] { return Meeting<RendezvousChannel<T>>::pushes(channel) == count; });
}
template <class T>
void wait_for_pops(RendezvousChannel<T>& channel, std::size_t count) {
  idle_until([&] { return Meeting<RendezvousChannel<T>>::pops(channel) == count; });
}

TEST(RendezvousChannel, a_push_ends_when_a_pop_has_taken_its_item) {
  RendezvousChannel<std::unique_ptr<int>> channel;
  std::atomic<bool> over{false};
  std::thread producer([&] {
    EXPECT_EQ(channel.push(std::make_unique<int>(7)), Status::ok);
    over = true;
  });
  wait_for_pushes(channel, 1);
  EXPECT_FALSE(over);
  EXPECT_EQ(**channel.pop(), 7);
  producer.join();
  EXPECT_FALSE(channel.try_pop().has_value());
}

TEST(RendezvousChannel, a_try_needs_a_thread_that_waits) {
  RendezvousChannel<std::string> channel;
  std::string item = "mine";
  EXPECT_EQ(channel.try_push(std::move(item)), Status::full);
  EXPECT_EQ(channel.try_emplace(3U, 'x'), Status::full);
  EXPECT_EQ(channel.try_push(std::as_const(item)), Status::full);
  EXPECT_EQ(item, "mine");
  std::string out;
  EXPECT_EQ(channel.try_pop(out), Status::empty);

  std::thread consumer([&] { EXPECT_EQ(channel.pop(), "mine"); });
  wait_for_pops(channel, 1);
  EXPECT_EQ(channel.try_push(std::move(item)), Status::ok);
  consumer.join();

  std::jthread producer([&] { EXPECT_EQ(channel.push("yours"), Status::ok); });
  wait_for_pushes(channel, 1);
  EXPECT_EQ(channel.try_pop(out), Status::ok);
  EXPECT_EQ(out, "yours");
}

TEST(RendezvousChannel, pushes_are_served_first_come_first_served) {
  RendezvousChannel<int> channel;
  std::vector<std::jthread> producers;
  for (int i = 0; i < 4; ++i) {
    producers.emplace_back([&, i] { EXPECT_EQ(channel.emplace(i), Status::ok); });
    wait_for_pushes(channel, static_cast<std::size_t>(i) + 1);
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(channel.pop(), i);
}

TEST(RendezvousChannel, so_are_pops) {
  RendezvousChannel<int> channel;
  std::vector<std::jthread> consumers;
  for (int i = 0; i < 4; ++i) {
    consumers.emplace_back([&, i] { EXPECT_EQ(channel.pop(), i); });
    wait_for_pops(channel, static_cast<std::size_t>(i) + 1);
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(channel.try_push(i), Status::ok);
}

TEST(RendezvousChannel, a_wait_that_ends_leaves_the_line_and_the_item) {
  RendezvousChannel<std::unique_ptr<int>> channel;
  std::unique_ptr<int> item = std::make_unique<int>(1);
  std::stop_source stop;
  std::thread patient([&] { EXPECT_EQ(channel.push(std::make_unique<int>(2)), Status::ok); });
  wait_for_pushes(channel, 1);
  EXPECT_EQ(channel.push(std::move(item), 1ms), Status::timed_out);
  std::thread stopped(
      [&] { EXPECT_EQ(channel.push(std::move(item), stop.get_token()), Status::stopped); });
  wait_for_pushes(channel, 2);
  std::thread last([&] { EXPECT_EQ(channel.push(std::make_unique<int>(3)), Status::ok); });
  wait_for_pushes(channel, 3);
  stop.request_stop();
  stopped.join();
  ASSERT_NE(item, nullptr) << "a refused item stays the caller's";
  EXPECT_EQ(*item, 1);
  EXPECT_EQ(**channel.pop(), 2);
  EXPECT_EQ(**channel.pop(), 3);
  patient.join();
  last.join();
  EXPECT_EQ(channel.pop(item, {1ms, stop.get_token()}), Status::stopped);
  EXPECT_EQ(channel.pop(item, 1ms), Status::timed_out);
  EXPECT_EQ(*item, 1) << "nothing came";
}

TEST(RendezvousChannel, close_wakes_all) {
  RendezvousChannel<std::string> pushed;
  RendezvousChannel<std::string> popped;
  test::Crew producers(2, [&] {
    std::string mine = "mine";
    EXPECT_EQ(pushed.push(std::move(mine)), Status::closed);
    EXPECT_EQ(mine, "mine") << "a refused item stays the caller's";
  });
  const test::Crew consumers(2, [&] {
    for (const std::string& item : popped) FAIL() << item;
  });
  wait_for_pushes(pushed, 2);
  wait_for_pops(popped, 2);
  for (auto* const channel : {&pushed, &popped, &pushed}) {
    channel->close();
    EXPECT_TRUE(channel->closed());
  }
  producers.join();
  std::string out;
  EXPECT_EQ(pushed.push("late"), Status::closed);
  EXPECT_EQ(pushed.try_push("late"), Status::closed);
  EXPECT_EQ(pushed.pop(out), Status::closed);
  EXPECT_EQ(pushed.try_pop(out), Status::closed);
}

TEST(RendezvousChannel, a_loop_goes_on_until_the_close) {
  RendezvousChannel<int> channel;
  std::jthread producer([&] {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(channel.push(i), Status::ok);
    channel.close();
  });
  int next = 0;
  for (const int item : channel) EXPECT_EQ(item, next++);
  EXPECT_EQ(next, 100);
}

// Made of a number; not of a negative one.
struct Picky {
  explicit(false) Picky(int its_number) : number(its_number) {
    if (number < 0) throw std::invalid_argument("a negative one");
  }
  int number;
};

TEST(RendezvousChannel, an_item_that_cannot_be_made_ends_its_push_alone) {
  RendezvousChannel<Picky> channel;
  const auto refuse = [&] { EXPECT_THROW((void)channel.push(-1), std::invalid_argument); };
  std::thread consumer([&] { EXPECT_EQ(channel.pop()->number, 1); });
  wait_for_pops(channel, 1);
  refuse();
  EXPECT_THROW((void)channel.try_emplace(-1), std::invalid_argument);
  EXPECT_EQ(channel.push(1), Status::ok) << "the pop waits on";
  consumer.join();

  std::thread first(refuse);
  wait_for_pushes(channel, 1);
  std::thread second([&] { EXPECT_EQ(channel.emplace(2), Status::ok); });
  wait_for_pushes(channel, 2);
  EXPECT_EQ(channel.pop()->number, 2) << "the next in line";
  first.join();
  second.join();
  EXPECT_FALSE(channel.try_pop().has_value());
}

TEST(RendezvousChannel, a_copy_that_throws_comes_before_the_wait) {
  struct Throws {
    Throws() = default;
    Throws(const Throws&) { throw std::runtime_error("copy"); }
    Throws(Throws&&) noexcept {}
  };
  RendezvousChannel<Throws> channel;
  const Throws item;
  EXPECT_THROW((void)channel.push(item), std::runtime_error);
  EXPECT_THROW((void)channel.try_push(item), std::runtime_error);
}

TEST(RendezvousChannel, a_select_meets_a_push_that_waits) {
  RendezvousChannel<int> met;
  Channel<int> stored(1);
  int sum = 0;
  const auto add = [&](int item) { sum += item; };
  EXPECT_EQ(try_select(on_item(met, add), on_item(stored, add)), Status::empty);
  std::thread selects([&] {
    while (select(on_item(met, add), on_item(stored, add)) == Status::ok) {
    }
  });
  for (const int item : {1, 2, 4}) EXPECT_EQ(met.push(item), Status::ok);
  EXPECT_EQ(stored.push(8), Status::ok);
  met.close();
  stored.close();
  selects.join();
  EXPECT_EQ(sum, 15);
}

TEST(RendezvousChannel, a_stop_token_without_memory_leaves_nobody_in_line) {
  const std::stop_source stop;
  test::until_whole(test::Call::allocation, 0, [&] {
    test::Audited<RendezvousChannel<int>> channel;
    try {
      EXPECT_EQ(channel.push(1, {1ms, stop.get_token()}), Status::timed_out);
    } catch (const std::bad_alloc&) {
    }
    EXPECT_FALSE(channel.try_pop().has_value());
  });
}

}  // namespace
