// SPDX-License-Identifier: MIT
//
// select(): which channel is served, what ends the wait, and that nobody sleeps on.
#include "support/test.hpp"
#include "support/threads_of_process.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

constexpr auto ignore = [](auto&&) {};

TEST(Select, takes_from_the_one_that_has_an_item) {
  Channel<int> numbers(1);
  UnboundedChannel<std::unique_ptr<std::string>> words;
  int number = 0;
  std::string word;
  const auto serve = [&] {
    return try_select(on_item(numbers, [&](int item) { number = item; }),
                      on_item(words, [&](std::unique_ptr<std::string> item) { word = *item; }));
  };
  EXPECT_EQ(serve(), Status::empty);
  ASSERT_EQ(words.push(std::make_unique<std::string>("hello")), Status::ok);
  EXPECT_EQ(serve(), Status::ok);
  EXPECT_EQ(word, "hello");
  EXPECT_EQ(number, 0);
  ASSERT_EQ(numbers.push(5), Status::ok);
  numbers.close();
  EXPECT_EQ(serve(), Status::ok);
  EXPECT_EQ(number, 5);
  EXPECT_EQ(serve(), Status::empty) << "one of them is open";
  words.close();
  EXPECT_EQ(serve(), Status::closed);
}

TEST(Select, serves_busy_channels_in_turn) {
  Channel<int> a(64);
  Channel<int> b(64);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(a.push(i), Status::ok);
    ASSERT_EQ(b.push(i), Status::ok);
  }
  int from_a = 0;
  int from_b = 0;
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(select(on_item(a, [&](int) { ++from_a; }), on_item(b, [&](int) { ++from_b; })),
              Status::ok);
  }
  EXPECT_EQ(from_a, 16);
  EXPECT_EQ(from_b, 16);
}

TEST(Select, sleeps_until_any_of_them_has_an_item) {
  Channel<int> a(1);
  Channel<int> b(1);
  for (Channel<int>* channel : {&a, &b}) {
    int sum = 0;
    std::thread reader([&] {
      EXPECT_EQ(select(on_item(a, [&](int item) { sum += item; }),
                       on_item(b, [&](int item) { sum += 10 * item; })),
                Status::ok);
    });
    std::this_thread::sleep_for(10ms);
    ASSERT_EQ(channel->push(1), Status::ok);
    reader.join();
    EXPECT_EQ(sum, channel == &a ? 1 : 10);
  }
}

TEST(Select, makes_room_for_a_waiting_push) {
  Channel<int> a(1);
  Channel<int> b(1);
  ASSERT_EQ(a.push(1), Status::ok);
  std::thread writer([&] { EXPECT_EQ(a.push(2), Status::ok); });
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(select(on_item(a, ignore), on_item(b, ignore)), Status::ok);
  writer.join();
  EXPECT_EQ(a.pop(), 2);
}

TEST(Select, close_stop_and_deadline_end_it) {
  Channel<int> a(1);
  Channel<int> b(1);
  EXPECT_EQ(select(1ms, on_item(a, ignore), on_item(b, ignore)), Status::timed_out);
  std::stop_source source;
  std::atomic<bool> was_stopped{false};
  std::jthread reader([&] {
    EXPECT_EQ(select(source.get_token(), on_item(a, ignore), on_item(b, ignore)), Status::stopped);
    EXPECT_EQ(select({1h, source.get_token()}, on_item(a, ignore)), Status::stopped);
    was_stopped = true;
    EXPECT_EQ(select(on_item(a, ignore), on_item(b, ignore)), Status::closed);
  });
  std::this_thread::sleep_for(10ms);
  source.request_stop();
  while (!was_stopped) std::this_thread::yield();
  std::this_thread::sleep_for(10ms);
  a.close();
  std::this_thread::sleep_for(10ms);
  b.close();
}

TEST(Select, a_handler_that_throws_has_consumed_its_item) {
  Channel<int> a(2);
  ASSERT_EQ(a.push(1), Status::ok);
  ASSERT_EQ(a.push(2), Status::ok);
  EXPECT_THROW((void)select(on_item(a, [](int item) { throw item; })), int);
  EXPECT_EQ(a.pop(), 2);
}

TEST(Select, the_same_channel_twice_is_one_channel) {
  Channel<int> a(1);
  std::thread reader(
      [&] { EXPECT_EQ(select(on_item(a, ignore), on_item(a, ignore)), Status::ok); });
  std::this_thread::sleep_for(10ms);
  ASSERT_EQ(a.push(1), Status::ok);
  reader.join();
  EXPECT_TRUE(a.empty());
}

// A ring that notes which threads look for an item. Counting futex calls would not tell how many
// sleepers an item woke: the lock of the list makes such calls too.
template <class T>
class WatchedRing : public MpmcRing<T> {
 public:
  using MpmcRing<T>::MpmcRing;

  template <class Visitor>
  std::size_t consume(Visitor&& visitor, std::size_t most) {
    {
      const std::lock_guard lock(mutex_);
      lookers_.insert(std::this_thread::get_id());
    }
    return MpmcRing<T>::consume(std::forward<Visitor>(visitor), most);
  }

  // How many threads have looked since the last call.
  static std::size_t how_many_looked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lookers_, {}).size();
  }

 private:
  static inline std::mutex mutex_;
  static inline std::set<std::thread::id> lookers_;
};

TEST(Select, an_item_wakes_one_sleeper) {
  Channel<int, WatchedRing<int>> a(4);
  Channel<int, WatchedRing<int>> b(4);
  std::atomic<int> served{0};
  const test::Crew readers(3, [&] {
    EXPECT_EQ(select(on_item(a, ignore), on_item(b, ignore)), Status::ok);
    served.fetch_add(1);
  });
  for (int i = 0; i < 3; ++i) {
    test::await_long_sleep_of_all_others();
    (void)WatchedRing<int>::how_many_looked();
    ASSERT_EQ((i % 2 == 0 ? a : b).push(i), Status::ok);
    while (served.load() <= i) std::this_thread::sleep_for(1ms);
    test::await_long_sleep_of_all_others();
    EXPECT_EQ(WatchedRing<int>::how_many_looked(), 1U);
  }
}

// Selects and pops on the same two channels, producers that close: each item once, and all end.
TEST(Select, stress) {
  auto dice = test::random();
  for (std::size_t round = 0; round < test::rounds(200); ++round) {
    Channel<std::size_t> a(1 + dice() % 4);
    UnboundedChannel<std::size_t> b;
    constexpr std::size_t each = 100;
    std::atomic<std::size_t> sum{0};
    const auto add = [&](std::size_t item) { sum.fetch_add(item); };
    test::Crew selects(2, [&] {
      while (select(on_item(a, add), on_item(b, add)) == Status::ok) {
      }
    });
    std::thread pops([&] {
      for (const std::size_t item : a) add(item);
    });
    const auto fill = [](auto& channel) {
      for (std::size_t i = 1; i <= each; ++i) ASSERT_EQ(channel.push(i), Status::ok);
      channel.close();
    };
    const std::jthread fills([&] { fill(a); });
    fill(b);
    pops.join();
    selects.join();
    ASSERT_EQ(sum.load(), each * (each + 1));
  }
}

}  // namespace
