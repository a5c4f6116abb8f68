// SPDX-License-Identifier: MIT
//
// Channel: who waits, what ends the wait, and who is told. The transfer suite has the rest.
#include <variant>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Call;

static_assert(!std::is_copy_constructible_v<Channel<int>>);
static_assert(!std::is_default_constructible_v<Channel<int>>, "a bound, or UnboundedChannel");
static_assert(std::input_iterator<Channel<int>::Iterator>);

// Long enough for a thread to fall asleep; nothing hangs on it but how much a test exercises.
void let_them_sleep() { std::this_thread::sleep_for(10ms); }

TEST(Channel, a_pop_waits_for_a_push) {
  Channel<int> channel(4);
  int out = 0;
  std::thread reader([&] { EXPECT_EQ(channel.pop(out), Status::ok); });
  let_them_sleep();
  EXPECT_EQ(channel.push(7), Status::ok);
  reader.join();
  EXPECT_EQ(out, 7);
}

TEST(Channel, a_push_waits_for_room) {
  Channel<std::unique_ptr<int>> channel(1);
  ASSERT_EQ(channel.push(std::make_unique<int>(1)), Status::ok);
  std::jthread writer([&] { EXPECT_EQ(channel.push(std::make_unique<int>(2)), Status::ok); });
  let_them_sleep();
  EXPECT_EQ(**channel.pop(), 1);
  EXPECT_EQ(**channel.pop(), 2);
}

TEST(Channel, a_visitor_makes_room) {
  Channel<int> channel(1);
  ASSERT_EQ(channel.push(1), Status::ok);
  std::jthread writer([&] { EXPECT_EQ(channel.push(2), Status::ok); });
  let_them_sleep();
  EXPECT_THROW(channel.consume([](int& item) { throw item; }), int);
  EXPECT_EQ(channel.pop(), 2);
}

TEST(Channel, a_visitor_does_not_wait_for_room) {
  Channel<int> channel(1);
  Channel<int> other(1);
  ASSERT_EQ(channel.push(1), Status::ok);
  while (channel.try_push(2) == Status::ok) {
  }
  ASSERT_EQ(other.push(1), Status::ok);
  const auto inner = [&](int&) {
    EXPECT_EQ(channel.push(3, 10s), Status::full) << "in a drain inside that drain";
    EXPECT_EQ(channel.emplace(10s, 3), Status::full);
  };
  const auto outer = [&](int&) {
    while (channel.try_push(4) == Status::ok) {
    }
    EXPECT_EQ(channel.push(3, 10s), Status::full);
    EXPECT_EQ(other.consume(inner), 1U);
    EXPECT_EQ(channel.push(3, 10s), Status::full) << "behind the inner one";
    EXPECT_EQ(other.push(3, 10s), Status::ok);
    throw 1;
  };
  EXPECT_THROW(channel.consume(outer), int);
  while (channel.try_push(4) == Status::ok) {
  }
  EXPECT_EQ(channel.push(5, 1ms), Status::timed_out) << "nobody drains";
}

// Which constructor made it, and of what.
struct Made {
  explicit Made(std::unique_ptr<int> its_number) noexcept : number(std::move(its_number)) {}
  Made(std::chrono::milliseconds its_age, int its_number)
      : age(its_age), number(std::make_unique<int>(its_number)) {}
  std::chrono::milliseconds age{0};
  std::unique_ptr<int> number;
};

template <class TheChannel>
void emplace_three(TheChannel& channel) {
  EXPECT_EQ(channel.emplace(std::make_unique<int>(1)), Status::ok);
  EXPECT_EQ(channel.emplace(1h, std::make_unique<int>(2)), Status::ok) << "a limit";
  EXPECT_EQ(channel.emplace(5ms, 3), Status::ok) << "of all of them, if that can be";
  EXPECT_EQ(*channel.pop()->number, 1);
  EXPECT_EQ(*channel.pop()->number, 2);
  const auto last = channel.pop();
  EXPECT_EQ(last->age, 5ms);
  EXPECT_EQ(*last->number, 3);
}

TEST(Channel, emplace_makes_the_item_in_its_place) {
  Channel<Made> bounded(4);
  emplace_three(bounded);
  UnboundedChannel<Made> unbounded;
  emplace_three(unbounded);
}

TEST(Channel, emplace_waits_and_leaves_its_arguments_if_refused) {
  Channel<Made> channel(1);
  ASSERT_EQ(channel.emplace(5ms, 1), Status::ok);
  auto argument = std::make_unique<int>(2);
  EXPECT_EQ(channel.emplace(Until(1ms), std::move(argument)), Status::timed_out);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(channel.emplace(source.get_token(), std::move(argument)), Status::stopped);
  ASSERT_NE(argument, nullptr);
  std::thread writer([&] { EXPECT_EQ(channel.emplace(std::move(argument)), Status::ok); });
  let_them_sleep();
  EXPECT_EQ(*channel.pop()->number, 1);
  writer.join();
  EXPECT_EQ(*channel.pop()->number, 2);
  channel.close();
  auto late = std::make_unique<int>(3);
  EXPECT_EQ(channel.emplace(std::move(late)), Status::closed);
  EXPECT_NE(late, nullptr);
}

TEST(Channel, close_wakes_readers_and_writers) {
  Channel<std::string> full(1);
  Channel<std::string> empty(1);
  ASSERT_EQ(full.push("first"), Status::ok);
  test::Crew writers(2, [&] {
    std::string mine = "mine";
    EXPECT_EQ(full.push(std::move(mine)), Status::closed);
    EXPECT_EQ(mine, "mine") << "a refused item stays the caller's";
  });
  const test::Crew readers(2, [&] {
    std::string out;
    EXPECT_EQ(empty.pop(out), Status::closed);
    EXPECT_EQ(empty.pop(), std::nullopt);
  });
  let_them_sleep();
  full.close();
  empty.close();
  writers.join();
  EXPECT_EQ(full.pop(), "first") << "what was accepted comes out";
  EXPECT_EQ(full.pop(), std::nullopt);
  full.close();
  EXPECT_EQ(full.push("late"), Status::closed);
}

TEST(Channel, a_stop_ends_a_wait) {
  Channel<int> channel(1);
  std::stop_source source;
  std::thread reader([&] {
    int out = 0;
    EXPECT_EQ(channel.pop(out, source.get_token()), Status::stopped);
    EXPECT_EQ(channel.pop(source.get_token()), std::nullopt);
  });
  let_them_sleep();
  source.request_stop();
  reader.join();
  EXPECT_EQ(channel.push(1, source.get_token()), Status::ok) << "what needs no wait is done";
  EXPECT_EQ(channel.push(2, source.get_token()), Status::stopped);
  EXPECT_EQ(channel.pop(), 1);
}

TEST(Channel, of_a_time_and_a_stop_the_first_ends_a_wait) {
  Channel<int> channel(1);
  std::stop_source source;
  int out = 0;
  EXPECT_EQ(channel.pop(out, {1ms, source.get_token()}), Status::timed_out);
  source.request_stop();
  EXPECT_EQ(channel.pop(out, {1h, source.get_token()}), Status::stopped);
}

TEST(Channel, a_deadline_ends_a_wait) {
  Channel<std::unique_ptr<int>> channel(1);
  std::unique_ptr<int> item;
  EXPECT_EQ(channel.pop(item, 1ms), Status::timed_out);
  EXPECT_EQ(channel.push(std::make_unique<int>(1)), Status::ok);
  item = std::make_unique<int>(2);
  EXPECT_EQ(channel.push(std::move(item), 1ms), Status::timed_out);
  ASSERT_NE(item, nullptr) << "a refused item stays the caller's";
  EXPECT_EQ(channel.pop(item, 0s), Status::ok);
  EXPECT_EQ(*item, 1);
}

TEST(Channel, range_for_until_closed_and_drained) {
  Channel<std::unique_ptr<int>> channel(2);
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(channel.push(std::make_unique<int>(i)), Status::ok);
    channel.close();
  });
  int next = 0;
  for (std::unique_ptr<int>& item : channel) {
    EXPECT_EQ(*item, next++);
    item.reset();
  }
  writer.join();
  EXPECT_EQ(next, 100);
}

// Neither a default nor an assignment.
struct Rigid {
  explicit Rigid(int number) noexcept : value(number) {}
  Rigid(Rigid&&) noexcept = default;
  Rigid& operator=(Rigid&&) = delete;
  int value;
};

TEST(Channel, an_iterator_steps_either_way) {
  Channel<int> channel(4);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(channel.push(i), Status::ok);
  channel.close();
  auto item = channel.begin();
  EXPECT_EQ(*item, 0);
  item++;
  EXPECT_EQ(*item, 1);
  EXPECT_EQ(*++item, 2);
  item++;
  EXPECT_TRUE(item == channel.end());
}

TEST(Channel, items_that_only_move) {
  Channel<Rigid> channel(2);
  EXPECT_EQ(channel.try_emplace(3), Status::ok);
  EXPECT_EQ(channel.push(Rigid(4)), Status::ok);
  EXPECT_EQ(channel.pop()->value, 3);
  channel.close();
  EXPECT_EQ(channel.pop()->value, 4);
  EXPECT_FALSE(channel.pop().has_value());
}

struct ThrowingCopy {
  ThrowingCopy() = default;
  ThrowingCopy(const ThrowingCopy&) { throw std::runtime_error("copy"); }
  ThrowingCopy(ThrowingCopy&&) noexcept {}
  ThrowingCopy& operator=(ThrowingCopy&&) noexcept { return *this; }
};

TEST(Channel, a_copy_that_throws_changes_nothing) {
  Channel<ThrowingCopy> channel(1);
  const ThrowingCopy item;
  EXPECT_THROW((void)channel.push(item), std::runtime_error);
  EXPECT_THROW((void)channel.try_push(item), std::runtime_error);
  EXPECT_TRUE(channel.empty());
  EXPECT_EQ(channel.push(ThrowingCopy()), Status::ok);
}

TEST(Channel, a_batch_wakes_as_many_as_it_serves) {
  Channel<int> channel(8);
  std::atomic<int> sum{0};
  test::Crew readers(3, [&] { sum.fetch_add(channel.pop().value_or(0)); });
  let_them_sleep();
  std::array items{1, 2, 4};
  EXPECT_EQ(channel.try_push_batch(items), 3U);
  readers.join();
  EXPECT_EQ(sum, 7);
}

TEST(Channel, nobody_asleep_no_system_call) {
  Channel<int> channel(4);
  const std::size_t before = test::calls(Call::wake);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(channel.push(i), Status::ok);
    ASSERT_EQ(channel.pop(), i);
  }
  channel.close();
  EXPECT_EQ(test::calls(Call::wake), before);
}

TEST(Channel, unbounded_pushes_never_wait) {
  UnboundedChannel<int> channel;
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(channel.push(i), Status::ok);
  EXPECT_EQ(channel.size(), 10'000U);
  channel.close();
  int next = 0;
  for (const int item : channel) ASSERT_EQ(item, next++);
  EXPECT_EQ(next, 10'000);
}

// The idiom of docs/guide/messages.md: whatever becomes of a task comes out, as soon as it is
// known.
TEST(Channel, results_as_they_are_ready) {
  using Outcome = std::variant<int, std::exception_ptr>;
  UnboundedChannel<Outcome> ready;
  ThreadPool pool({.width = 2});
  const auto feed = [&](Future<int> future) {
    (void)std::move(future)
        .then([](int result) { return Outcome(result); })
        .on_failure([](std::exception_ptr why) { return Outcome(std::move(why)); })
        .then([&ready](Outcome outcome) { (void)ready.push(std::move(outcome)); });
  };
  feed(pool.submit([] { return 1; }));
  feed(pool.submit([]() -> int { throw std::runtime_error("no result"); }));
  feed(pool.submit([] { return 2; }, {.until = std::chrono::steady_clock::time_point()}));
  feed(pool.submit([] { return 4; }));
  std::multiset<std::string> came;
  for (int i = 0; i < 4; ++i) {
    const std::optional<Outcome> outcome = ready.pop(1min);
    ASSERT_TRUE(outcome.has_value());
    if (const int* const result = std::get_if<int>(&*outcome)) {
      came.insert(std::to_string(*result));
      continue;
    }
    try {
      std::rethrow_exception(std::get<std::exception_ptr>(*outcome));
    } catch (const NotRun& dropped) {
      came.insert(to_string(dropped.status()));
    } catch (const std::runtime_error& failed) {
      came.insert(failed.what());
    }
  }
  EXPECT_EQ(came, (std::multiset<std::string>{"1", "4", "no result", "timed_out"}));
}

TEST(Channel, failing_allocation_of_an_unbounded_push) {
  test::until_enough_memory([] {
    UnboundedChannel<std::array<char, 4000>> channel;  // some few items a segment
    for (int i = 0; i < 100; ++i) ASSERT_EQ(channel.push({}), Status::ok);
    channel.close();
    EXPECT_EQ(channel.consume([](auto&) {}), 100U);
  });
}

// Many threads that really wait. Each item once; at the end nobody is left asleep.
template <class TheChannel, class... Capacity>
void exchange_items(int producers, int consumers, std::size_t each, Capacity... capacity) {
  TheChannel channel(capacity...);
  std::atomic<int> left{producers};
  std::vector<std::vector<std::uint8_t>> seen(static_cast<std::size_t>(consumers));
  std::vector<std::thread> threads;
  const std::size_t total = each * static_cast<std::size_t>(producers);
  for (int p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (std::size_t i = 0; i < each; ++i) {
        const std::size_t item = static_cast<std::size_t>(p) * each + i;
        ASSERT_EQ(channel.push(item), Status::ok);
      }
      if (left.fetch_sub(1) == 1) channel.close();
    });
  }
  for (auto& mine : seen) {
    mine.resize(total);
    threads.emplace_back([&] {
      for (const std::size_t item : channel) ++mine[item];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t item = 0; item < total; ++item) {
    int times = 0;
    for (const auto& mine : seen) times += mine[item];
    ASSERT_EQ(times, 1) << "item " << item;
  }
}

TEST(Channel, stress_blocking) {
  for (const std::size_t capacity : {1U, 2U, 16U}) {
    exchange_items<Channel<std::size_t>>(1, 1, test::rounds(20'000), capacity);
    exchange_items<Channel<std::size_t>>(3, 3, test::rounds(5'000), capacity);
    exchange_items<Channel<std::size_t, SpscRing<std::size_t>>>(1, 1, test::rounds(20'000),
                                                                capacity);
  }
  exchange_items<UnboundedChannel<std::size_t>>(3, 3, test::rounds(10'000));
}

// close() at a random moment, against pushes and pops that wait: all end, and what was accepted
// is taken exactly once.
template <class TheChannel, class... Capacity>
void close_amid_waits(int enough, Capacity... capacity) {
  TheChannel channel(capacity...);
  std::atomic<int> accepted{0};
  std::atomic<int> taken{0};
  test::Crew writers(2, [&] {
    while (channel.push(1) == Status::ok) accepted.fetch_add(1);
  });
  test::Crew readers(2, [&] {
    for (const int item : channel) taken.fetch_add(item);
  });
  while (accepted.load() < enough) std::this_thread::yield();
  channel.close();
  writers.join();
  readers.join();
  ASSERT_EQ(taken.load(), accepted.load());
}

// Each round lasts until five threads had their turns, and what was pushed meanwhile is taken:
// beside busy neighbours that is some tenths of a second, so the time is bounded, too.
TEST(Channel, stress_close_against_waits) {
  auto dice = test::random();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(test::deep() ? 50 : 5);
  for (std::size_t round = 0; round < test::rounds(500); ++round) {
    if (round != 0 && std::chrono::steady_clock::now() > until) break;
    const int enough = static_cast<int>(dice() % 50);
    ASSERT_NO_FATAL_FAILURE(close_amid_waits<Channel<int>>(enough, 1 + dice() % 3));
    ASSERT_NO_FATAL_FAILURE(close_amid_waits<UnboundedChannel<int>>(enough));
  }
}

}  // namespace
