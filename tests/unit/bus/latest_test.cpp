// SPDX-License-Identifier: MIT
//
// Latest and LatestByKey: what is there, what is counted, what ends a wait.
#include "books/broadcast_books.hpp"
#include "support/failing.hpp"
#include "support/started_at.hpp"
#include "support/test.hpp"

namespace latest_test { namespace {

using namespace std::chrono_literals;
using namespace handoff;
using namespace handoff::test;

static_assert(!std::is_copy_constructible_v<Latest<int>>);
static_assert(!std::is_copy_constructible_v<LatestByKey<int, int>>);

// Long enough for a thread to fall asleep; nothing hangs on it but how much a test exercises.
void let_readers_sleep() { std::this_thread::sleep_for(10ms); }

TEST(Latest, TheNewestIsThere) {
  Audited<Latest<std::string>> latest;
  EXPECT_EQ(latest.load(), std::nullopt);
  EXPECT_EQ(latest.read([](const std::string&) { FAIL(); }), Status::empty);
  EXPECT_EQ(latest.version(), 0U);
  ASSERT_EQ(latest.store("one"), Status::ok);
  const std::string two = "two";
  ASSERT_EQ(latest.store(two), Status::ok);
  EXPECT_EQ(latest.load(), "two");
  EXPECT_EQ(latest.load(), "two") << "it stays";
  EXPECT_EQ(latest.read([](const std::string& value, std::uint64_t version) {
    EXPECT_EQ(value, "two");
    EXPECT_EQ(version, 2U);
  }),
            Status::ok);
  EXPECT_EQ(latest.read([](const std::string& value, std::uint64_t version, bool end_of_batch) {
    EXPECT_EQ(value, "two");
    EXPECT_EQ(version, 2U);
    EXPECT_TRUE(end_of_batch);
  }),
            Status::ok);
  EXPECT_EQ(latest.version(), 2U);
  EXPECT_EQ(latest.overwritten(), 1U) << "nobody saw `one`";
  ASSERT_EQ(latest.store("three"), Status::ok);
  EXPECT_EQ(latest.overwritten(), 1U);
  latest.close();
  EXPECT_EQ(latest.load(), "three") << "also after the close";
}

TEST(Latest, OwnsWhatItHolds) {
  const auto counted = std::make_shared<int>(7);
  {
    Audited<Latest<std::shared_ptr<int>>> latest(1);
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(latest.store(counted), Status::ok);
      EXPECT_EQ(counted.use_count(), 2) << "what is replaced ends at once";
    }
    (void)latest.read([&](const std::shared_ptr<int>& value) {
      ASSERT_EQ(latest.store(nullptr), Status::ok);
      EXPECT_EQ(*value, 7) << "not while it is read";
      EXPECT_EQ(counted.use_count(), 2);
    });
    EXPECT_EQ(counted.use_count(), 1);
    ASSERT_EQ(latest.store(counted), Status::ok);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Latest, ReadsTheNewerOnly) {
  Audited<Latest<int>> latest;
  std::uint64_t seen = 0;
  int value = 0;
  const auto look = [&](const int& newest) { value = newest; };
  EXPECT_EQ(latest.read_newer(seen, look, 0ms), Status::timed_out);
  ASSERT_EQ(latest.store(1), Status::ok);
  ASSERT_EQ(latest.store(2), Status::ok);
  EXPECT_EQ(latest.read_newer(seen, look), Status::ok);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(seen, 2U);
  EXPECT_EQ(latest.read_newer(seen, look, 1ms), Status::timed_out);
  EXPECT_EQ(latest.wait_newer(1, 0ms), Status::ok);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(latest.wait_newer(seen, stop.get_token()), Status::stopped);
  EXPECT_THROW((void)latest.read([](const int& newest) { throw newest; }), int);
  EXPECT_EQ(latest.load(), 2) << "what a visitor throws changes nothing";
  ASSERT_EQ(latest.store(3), Status::ok);
  EXPECT_THROW((void)latest.read_newer(seen, [](const int& newest) { throw newest; }), int);
  EXPECT_EQ(seen, 3U) << "it counts as read";
}

TEST(Latest, VersionsRunOver) {
  for (const int bits : {64, 63, 32, 31}) {
    const std::uint64_t edge = bits == 64 ? 0 : std::uint64_t{1} << bits;
    for (std::uint64_t before = 1; before <= 4; ++before) {
      StartedAt<Audited<Latest<int>>> latest(1, edge - before);
      std::uint64_t seen = latest.version();
      for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(latest.store(i), Status::ok);
        ASSERT_EQ(latest.read_newer(
                      seen, [&](const int& value) { EXPECT_EQ(value, i); }, 0ms),
                  Status::ok);
        ASSERT_EQ(latest.wait_newer(seen, 0ms), Status::timed_out);
      }
      ASSERT_EQ(latest.overwritten(), 0U);
    }
  }
}

TEST(Latest, AsManySlotsAsCallsNeed) {
  constexpr std::size_t huge = ~std::size_t{0};
  for (const std::size_t wrong : {std::size_t{32}, huge}) {
    EXPECT_THROW(Latest<int>{wrong}, std::length_error) << wrong;
  }
  EXPECT_THROW(Latest<int>{std::size_t{0}}, Misuse);
  Audited<Latest<int>> latest(31);
  std::function<void(int)> deeper = [&](int depth) {
    if (depth == 60) return;
    ASSERT_EQ(latest.store(depth), Status::ok);
    ASSERT_EQ(latest.read([&](const int& value) {
      deeper(depth + 1);
      EXPECT_EQ(value, depth) << "each visit keeps its own";
    }),
              Status::ok);
  };
  deeper(0);
}

TEST(Latest, AStoreWaitsForASlot) {
  Audited<Latest<int>> latest(1);  // four slots
  std::atomic<int> inside{0};
  std::atomic<bool> go_on{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(latest.store(i), Status::ok);
    readers.emplace_back([&] {
      (void)latest.read([&](const int&) {
        ++inside;
        while (!go_on) std::this_thread::yield();
      });
    });
    while (inside != i + 1) std::this_thread::yield();
  }
  std::thread writer([&] { EXPECT_EQ(latest.store(7), Status::ok); });
  let_readers_sleep();
  EXPECT_NE(latest.load(), 7);
  go_on = true;
  writer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(latest.load(), 7);
  EXPECT_EQ(latest.overwritten(), 0U);
}

TEST(Latest, OnlyTheConstructorAllocates) {
  std::vector<std::byte> storage(Latest<int>::storage_bytes(2) + 1);
  const Latest<int> first(2);  // the first one in a process also reads the number of CPUs
  std::size_t before = handoff::test::calls(Call::allocation);
  {
    Audited<Latest<int>> lent(2, std::span(storage).subspan(1));
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(lent.store(i), Status::ok);
      ASSERT_EQ(lent.load(), i);
    }
    EXPECT_EQ(handoff::test::calls(Call::allocation), before);
  }
  EXPECT_THROW(Latest<int>(2, std::span(storage).first(8)), std::length_error);
}

// --- By key. ---

using Seen = std::vector<std::pair<std::string, int>>;

template <class Queue>
Seen all_taken(Queue& queue) {
  Seen seen;
  queue.consume([&](const std::string& key, int& value) { seen.emplace_back(key, value); });
  return seen;
}

TEST(LatestByKey, AVisitorMayTakeTheSequenceAndTheEndOfABatch) {
  Audited<LatestByKey<std::string, int>> queue(4);
  for (const char* key : {"a", "b", "a", "c"}) ASSERT_EQ(queue.try_push(key, 0), Status::ok);
  using Told = std::vector<std::tuple<std::string, std::uint64_t, bool>>;
  Told told;
  const auto look = [&](const std::string& key, int& value, std::uint64_t sequence, bool end) {
    if (key == "c" && value == 0) {
      EXPECT_EQ(queue.try_push(key, 1), Status::ok);
    }
    told.emplace_back(key, sequence, end);
  };
  EXPECT_EQ(queue.consume(look, 0), 0U);
  EXPECT_EQ(queue.consume(look, 1), 1U);
  EXPECT_EQ(queue.consume(look), 2U) << "what comes after the end is for the next call";
  EXPECT_EQ(queue.consume(look), 1U);
  EXPECT_EQ(told, (Told{{"a", 2, true}, {"b", 1, false}, {"c", 3, true}, {"c", 4, true}}));
  ASSERT_EQ(queue.try_push("d", 0), Status::ok);
  queue.consume([](const std::string& key, int&, std::uint64_t sequence) {
    EXPECT_EQ(key, "d");
    EXPECT_EQ(sequence, 5U);
  });
}

// Counted while it lives, moved from or not.
struct Counted {
  static inline int alive = 0;

  explicit Counted(int its_number) noexcept : number(its_number) { ++alive; }
  Counted(const Counted& other) noexcept : number(other.number) { ++alive; }
  Counted& operator=(const Counted&) noexcept = default;
  ~Counted() { --alive; }
  friend bool operator==(const Counted& a, const Counted& b) noexcept {
    return a.number == b.number;
  }

  int number;
};
struct HashOfCounted {
  std::size_t operator()(const Counted& key) const noexcept {
    return static_cast<std::size_t>(key.number);
  }
};

TEST(LatestByKey, EachKeyAndValueEndsOnce) {
  Counted::alive = 0;
  {
    Audited<LatestByKey<Counted, Counted, HashOfCounted>> queue(2);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(queue.try_push(Counted(1), Counted(i)), Status::ok);
    EXPECT_EQ(Counted::alive, 2) << "the key and its newest value";
    EXPECT_EQ(queue.consume([](const Counted&, Counted& value) { EXPECT_EQ(value.number, 2); }),
              1U);
    EXPECT_EQ(Counted::alive, 0);
    ASSERT_EQ(queue.try_push(Counted(2), Counted(3)), Status::ok);
  }
  EXPECT_EQ(Counted::alive, 0) << "what is left ends with the queue";
}

TEST(LatestByKey, Waits) {
  for (const auto spin_for : {std::chrono::nanoseconds(0), std::chrono::nanoseconds::max()}) {
    Audited<LatestByKey<int, int>> queue(1, {}, spin_for);
    EXPECT_EQ(queue.wait(0ms), Status::timed_out);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(queue.wait(stop.get_token()), Status::stopped);
    std::thread producer([&] {
      let_readers_sleep();
      EXPECT_EQ(queue.push(1, 1), Status::ok);
      EXPECT_EQ(queue.push(2, 2), Status::ok) << "waits for the first to go";
      queue.close();
    });
    int sum = 0;
    const auto add = [&](int key, int value) {
      let_readers_sleep();
      sum += key + value;
    };
    while (queue.wait_and_consume(add) == Status::ok) {
    }
    producer.join();
    EXPECT_EQ(sum, 6);
  }
}

struct Thirds {
  std::size_t operator()(int key) const {
    if (key < 0) throw key;
    return static_cast<std::size_t>(key % 3);  // so that keys collide
  }
};

TEST(LatestByKey, AVisitorMayPushAndThrow) {
  Audited<LatestByKey<std::string, int>> queue(2);
  ASSERT_EQ(queue.try_push("a", 1), Status::ok);
  ASSERT_EQ(queue.try_push("b", 1), Status::ok);
  EXPECT_EQ(queue.consume([&](const std::string& key, int& value) {
    EXPECT_EQ(queue.try_push(key, value + 1), Status::ok) << "its place is free";
  }),
            2U)
      << "it ends";
  EXPECT_THROW(queue.consume([](const std::string&, int& value) { throw value; }), int);
  EXPECT_EQ(all_taken(queue), (Seen{{"b", 2}}));
}

TEST(LatestByKey, AVisitorDoesNotWaitForRoom) {
  LatestByKey<int, int> queue(1);
  ASSERT_EQ(queue.push(1, 1), Status::ok);
  EXPECT_EQ(queue.consume([&](int, int) {
    EXPECT_EQ(queue.push(2, 1, 10s), Status::ok);
    EXPECT_EQ(queue.push(3, 1, 10s), Status::full);
  }),
            1U);
  EXPECT_EQ(queue.push(3, 1, 1ms), Status::timed_out) << "nobody drains";
}

TEST(LatestByKey, ImpossibleCapacities) {
  constexpr std::size_t huge = ~std::size_t{0};
  using Queue = LatestByKey<int, int>;
  for (const std::size_t wrong : {huge, huge / 2, huge / 4, huge / 8 + 1}) {
    EXPECT_THROW(Queue{wrong}, std::length_error) << wrong;
  }
  EXPECT_THROW(Queue{std::size_t{0}}, std::logic_error);
  // Too small a storage is what is wrong with the most keys that can be, and not with one more.
  constexpr std::size_t most = std::size_t{1} << 31;
  std::byte little{};
  for (const std::size_t capacity : {most, most + 1, huge / 16}) {
    const auto make = [&] { const Queue queue(capacity, std::span(&little, 1)); };
    const std::length_error error = caught<std::length_error>(make).value();
    EXPECT_EQ(says(error, "storage"), capacity == most) << error.what();
    EXPECT_EQ(says(error, "and 2147483648 "), capacity != most) << error.what();
  }
}

TEST(LatestByKey, LivesInTheCallersStorage) {
  using Queue = LatestByKey<int, int>;
  const std::size_t bytes = Queue::storage_bytes(5);
  std::vector<std::byte> storage(bytes + 1);
  const Queue first(5);  // the first one in a process also reads the number of CPUs
  for (std::size_t offset = 0; offset < 2; ++offset) {
    const std::size_t before = handoff::test::calls(Call::allocation);
    Audited<Queue> queue(5, std::span(storage).subspan(offset, bytes));
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(queue.try_push(i % 8, i), Status::ok);
      ASSERT_EQ(queue.wait(), Status::ok);
      if (i % 3 == 0) queue.consume([](int, int) {}, 2);
    }
    EXPECT_EQ(handoff::test::calls(Call::allocation), before);
  }
  EXPECT_THROW(Queue(5, std::span(storage).first(bytes - 1)), std::length_error);
  EXPECT_THROW(Queue(5, std::span(storage).first(Queue::storage_bytes(1))), std::length_error);
}

TEST(LatestByKey, AKeyThatCannotBeCopiedChangesNothing) {
  Audited<LatestByKey<std::string, std::string>> queue(4);
  const std::string key(100, 'k');
  handoff::test::until_whole(Call::allocation, 0, [&] {
    const std::size_t before = queue.size();
    std::string value = "short";  // so that it allocates nothing
    try {
      EXPECT_EQ(queue.try_push(key, std::move(value)), Status::ok);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(queue.size(), before);
      EXPECT_EQ(value, "short") << "still the caller's";
    }
    queue.consume([](const std::string&, std::string&) {});
  });
}

// Random calls, each compared with what a list and a map would have done.
TEST(LatestByKey, RandomCallsAsAListAndAMapWould) {
  auto dice = handoff::test::random();
  for (std::size_t round = 0; round < handoff::test::rounds(300); ++round) {
    const std::uint64_t edge = dice() % 2 == 0 ? 0 : std::uint64_t{1} << 32;
    StartedAt<Audited<LatestByKey<int, int, Thirds>>> queue(1 + dice() % 9, edge - dice() % 20);
    ASSERT_THROW((void)queue.try_push(-1, 1), int);
    std::list<int> order;
    std::map<int, int> newest;
    std::uint64_t overwritten = 0;
    for (int step = 0; step < 200; ++step) {
      const int key = static_cast<int>(dice() % 12);
      if (dice() % 3 != 0) {
        const bool known = newest.contains(key);
        const Status expected =
            known || order.size() < queue.capacity() ? Status::ok : Status::full;
        ASSERT_EQ(queue.try_push(key, step), expected);
        if (expected != Status::ok) continue;
        if (known) {
          ++overwritten;
        } else {
          order.push_back(key);
        }
        newest[key] = step;
      } else {
        const std::size_t expected = order.empty() ? 0 : 1;
        ASSERT_EQ(queue.consume(
                      [&](int found, int value) {
                        ASSERT_EQ(found, order.front());
                        ASSERT_EQ(value, newest[found]);
                        newest.erase(found);
                        order.pop_front();
                      },
                      1),
                  expected);
      }
      ASSERT_EQ(queue.size(), order.size());
      ASSERT_EQ(queue.overwritten(), overwritten);
    }
  }
}

}}  // namespace latest_test
