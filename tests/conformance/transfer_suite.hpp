// SPDX-License-Identifier: MIT
//
// The conformance suite of the tier "transfer": what every queue with try_push and try_pop has to
// do, in parts, so that a queue which lacks a part takes the others.
//
// Each part is a typed suite over families. A family is a struct that names the queue:
//
//   struct Spsc {
//     template <class T> using Queue = MpscRing<T>;  // constructed from a capacity
//     static constexpr unsigned consumers_max = 1;   // for TransferCloseRace: 1 or 2
//   };
#pragma once

#include "conformance/transfer_stress.hpp"
#include "support/patience.hpp"
#include "support/started_at.hpp"
#include "support/test.hpp"

namespace handoff::test {

template <class Family, class T>
using QueueOf = typename Family::template Queue<T>;

// Pushes first, first + 1, ... until the queue is full; returns how many.
template <class Queue>
int fill(Queue& queue, int first = 0) {
  int count = 0;
  while (queue.try_push(first + count) == Status::ok) ++count;
  return count;
}

// Takes all there is, and expects first, first + 1, ...; returns how many.
template <class Queue>
int drain(Queue& queue, int first = 0) {
  int count = 0;
  for (int item = -1; queue.try_pop(item) == Status::ok; ++count) EXPECT_EQ(item, first + count);
  return count;
}

// An item that knows how many of its kind are alive.
struct Counted {
  explicit Counted(int number = 0) noexcept : value(number) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  Counted(Counted&& other) noexcept : value(std::exchange(other.value, -1)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  ~Counted() { --alive; }

  int value;
  static inline int alive = 0;
};

// An item that knows whether it ever stood where it must not.
struct alignas(256) OverAligned {
  explicit OverAligned(int number = 0) : value(number) { check(); }
  OverAligned(const OverAligned& other) : value(other.value) { check(); }
  OverAligned(OverAligned&& other) noexcept : value(other.value) { check(); }
  OverAligned& operator=(const OverAligned&) = default;

  int value;
  static inline int misplaced = 0;

 private:
  void check() const {
    if (reinterpret_cast<std::uintptr_t>(this) % alignof(OverAligned) != 0) ++misplaced;
  }
};

// --- Basics: any queue at all. ---

template <class Family>
class TransferBasics : public testing::Test {};
TYPED_TEST_SUITE_P(TransferBasics);

TYPED_TEST_P(TransferBasics, smoke) {
  QueueOf<TypeParam, int> queue(4);
  int out = -1;
  EXPECT_EQ(queue.try_pop(out), Status::empty);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(queue.try_push(7), Status::ok);
  EXPECT_EQ(queue.try_pop(out), Status::ok);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(queue.try_pop(out), Status::empty);
}

TYPED_TEST_P(TransferBasics, fifo_over_many_laps) {
  for (const std::size_t capacity : {1U, 2U, 3U, 8U}) {
    QueueOf<TypeParam, int> queue(capacity);
    for (int lap = 0; lap < 1000; ++lap) {
      int pushed = 0;
      while (pushed < static_cast<int>(capacity) && queue.try_push(lap + pushed) == Status::ok) {
        ++pushed;
      }
      ASSERT_EQ(pushed, static_cast<int>(capacity));
      ASSERT_EQ(drain(queue, lap), pushed);
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(TransferBasics, smoke, fifo_over_many_laps);

// --- Bounds: queues that say `full`. ---

template <class Family>
class TransferBounds : public testing::Test {};
TYPED_TEST_SUITE_P(TransferBounds);

TYPED_TEST_P(TransferBounds, capacity) {
  for (std::size_t asked = 1; asked <= 70; ++asked) {
    QueueOf<TypeParam, int> queue(asked);
    ASSERT_GE(queue.capacity(), asked);
    ASSERT_EQ(fill(queue), static_cast<int>(queue.capacity()));
  }
}

TYPED_TEST_P(TransferBounds, full) {
  for (const std::size_t capacity : {1U, 2U, 5U}) {
    QueueOf<TypeParam, int> queue(capacity);
    const int count = fill(queue);
    for (int next = 0; next < 100; ++next) {
      ASSERT_EQ(queue.try_push(-1), Status::full);
      int out = -1;
      ASSERT_EQ(queue.try_pop(out), Status::ok);
      ASSERT_EQ(out, next);
      ASSERT_EQ(queue.try_push(next + count), Status::ok);
    }
    EXPECT_EQ(drain(queue, 100), count);
  }
}

REGISTER_TYPED_TEST_SUITE_P(TransferBounds, capacity, full);

// --- Items: queues that hold any type that moves. ---

template <class Family>
class TransferItems : public testing::Test {};
TYPED_TEST_SUITE_P(TransferItems);

TYPED_TEST_P(TransferItems, move_only) {
  QueueOf<TypeParam, std::unique_ptr<int>> queue(2);
  ASSERT_EQ(queue.try_push(std::make_unique<int>(5)), Status::ok);
  std::unique_ptr<int> out;
  ASSERT_EQ(queue.try_pop(out), Status::ok);
  EXPECT_EQ(*out, 5);
}

TYPED_TEST_P(TransferItems, over_aligned) {
  QueueOf<TypeParam, OverAligned> queue(3);
  OverAligned::misplaced = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(queue.try_push(OverAligned(i)), Status::ok);
    ASSERT_EQ(queue.try_push(OverAligned(i + 1)), Status::ok);
    OverAligned out(-1);
    ASSERT_EQ(queue.try_pop(out), Status::ok);
    EXPECT_EQ(out.value, i);
    ASSERT_EQ(queue.try_pop(out), Status::ok);
    EXPECT_EQ(out.value, i + 1);
  }
  EXPECT_EQ(OverAligned::misplaced, 0);
}

TYPED_TEST_P(TransferItems, drops) {
  Counted::alive = 0;
  {
    QueueOf<TypeParam, Counted> queue(8);
    EXPECT_EQ(Counted::alive, 0);
    Counted out;
    for (int lap = 0; lap < 10; ++lap) {
      for (int i = 0; i < 8; ++i) ASSERT_EQ(queue.try_push(Counted(i)), Status::ok);
      EXPECT_EQ(Counted::alive, 8 + 1);
      for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(queue.try_pop(out), Status::ok);
        EXPECT_EQ(out.value, i);
        EXPECT_EQ(Counted::alive, 8 - 1 - i + 1);
      }
    }
    for (int i = 0; i < 5; ++i) ASSERT_EQ(queue.try_push(Counted(i)), Status::ok);
  }
  EXPECT_EQ(Counted::alive, 0) << "the destructor destroys what is left";
}

REGISTER_TYPED_TEST_SUITE_P(TransferItems, move_only, over_aligned, drops);

// --- Batches: try_push_batch and try_pop_batch. ---

template <class Family>
class TransferBatches : public testing::Test {};
TYPED_TEST_SUITE_P(TransferBatches);

TYPED_TEST_P(TransferBatches, batch) {
  QueueOf<TypeParam, int> queue(8);
  for (int lap = 0; lap < 100; ++lap) {
    std::array<int, 5> in;
    std::iota(in.begin(), in.end(), lap);
    ASSERT_EQ(queue.try_push_batch(in), 5U);
    std::array<int, 8> out{};
    ASSERT_EQ(queue.try_pop_batch(std::span(out).first(2)), 2U);
    ASSERT_EQ(queue.try_pop_batch(std::span(out).last(6)), 3U);
    EXPECT_EQ(out, (std::array{lap, lap + 1, lap + 2, lap + 3, lap + 4, 0, 0, 0}));
  }
}

TYPED_TEST_P(TransferBatches, batch_of_nothing) {
  QueueOf<TypeParam, int> queue(2);
  EXPECT_EQ(queue.try_push_batch({}), 0U);
  ASSERT_EQ(queue.try_push(1), Status::ok);
  EXPECT_EQ(queue.try_pop_batch({}), 0U);
  EXPECT_EQ(drain(queue, 1), 1);
  std::array<int, 2> out{};
  EXPECT_EQ(queue.try_pop_batch(out), 0U);
}

REGISTER_TYPED_TEST_SUITE_P(TransferBatches, batch, batch_of_nothing);

// --- Contract: what our rings promise beyond all that. Random calls are the models' affair
// (tests/model), what is refused that of refusals_test.cpp. ---

template <class Family>
class TransferContract : public testing::Test {};
TYPED_TEST_SUITE_P(TransferContract);

TYPED_TEST_P(TransferContract, capacity_is_the_next_power_of_two) {
  using Queue = QueueOf<TypeParam, int>;
  const std::vector<std::pair<std::size_t, std::size_t>> asked_and_got{
      {1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {1000, 1024}, {1024, 1024}, {1025, 2048}};
  for (const auto& [asked, got] : asked_and_got) EXPECT_EQ(Queue(asked).capacity(), got);
}

TYPED_TEST_P(TransferContract, impossible_capacities_are_refused) {
  using Queue = QueueOf<TypeParam, int>;
  constexpr std::size_t huge = ~std::size_t{0};
  for (const std::size_t wrong : {huge, huge / 2, huge / 4}) {
    EXPECT_THROW(Queue{wrong}, std::length_error) << wrong;
  }
  EXPECT_THROW(Queue{std::size_t{0}}, std::logic_error);
}

TYPED_TEST_P(TransferContract, its_size) {
  QueueOf<TypeParam, int> queue(4);
  EXPECT_TRUE(queue.empty());
  for (int size = 0; size < 4; ++size) {
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(size));
    ASSERT_EQ(queue.try_push(size), Status::ok);
    EXPECT_FALSE(queue.empty());
  }
  EXPECT_EQ(queue.size(), 4U);
  queue.close();
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(drain(queue), 4);
  EXPECT_EQ(queue.size(), 0U);
}

TYPED_TEST_P(TransferContract, close_drains) {
  for (const std::size_t capacity : {1U, 2U, 8U}) {
    QueueOf<TypeParam, int> queue(capacity);
    const int count = fill(queue);
    EXPECT_FALSE(queue.closed());
    queue.close();
    EXPECT_TRUE(queue.closed());
    int item = -1;
    EXPECT_EQ(queue.try_push(1), Status::closed) << "closed comes before full";
    EXPECT_EQ(queue.try_emplace(1), Status::closed);
    EXPECT_EQ(queue.try_push_batch(std::span(&item, 1)), 0U);
    EXPECT_EQ(drain(queue), count);
    EXPECT_EQ(queue.try_pop(item), Status::closed);
    EXPECT_EQ(queue.try_pop_batch(std::span(&item, 1)), 0U);
    EXPECT_EQ(queue.consume([](int&) { FAIL() << "there is nothing to visit"; }), 0U);
    EXPECT_EQ(queue.try_push(1), Status::closed);
    queue.close();
    EXPECT_EQ(queue.try_pop(item), Status::closed) << "a second close changes nothing";
  }
}

TYPED_TEST_P(TransferContract, visitor) {
  QueueOf<TypeParam, Counted> queue(4);
  Counted::alive = 0;
  for (int i = 0; i < 4; ++i) ASSERT_EQ(queue.try_emplace(i), Status::ok);
  std::vector<int> seen;
  const auto look = [&](Counted& item) { seen.push_back(item.value); };
  EXPECT_EQ(queue.consume(look, 0), 0U);
  EXPECT_EQ(queue.consume(look, 1), 1U);
  EXPECT_EQ(Counted::alive, 3);
  EXPECT_EQ(queue.consume(look), 3U);
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_EQ(queue.consume(look), 0U);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
}

TYPED_TEST_P(TransferContract, visitor_that_pushes_ends) {
  QueueOf<TypeParam, int> queue(4);
  ASSERT_EQ(fill(queue), 4);
  std::size_t refused = 0;
  const std::size_t count = queue.consume([&](int& item) {
    if (queue.try_push(item + 4) == Status::full) ++refused;
  });
  EXPECT_EQ(count, 4U);
  EXPECT_GE(refused, 1U) << "around the first item the ring is full, its own place included";
  EXPECT_EQ(queue.size(), 4 - refused);
}

TYPED_TEST_P(TransferContract, exception_in_visitor) {
  Counted::alive = 0;
  QueueOf<TypeParam, Counted> queue(4);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(queue.try_emplace(i), Status::ok);
  std::vector<int> seen;
  const auto throw_at_one = [&](Counted& item) {
    seen.push_back(item.value);
    if (item.value == 1) throw item.value;
  };
  EXPECT_THROW(queue.consume(throw_at_one), int);
  EXPECT_EQ(Counted::alive, 2) << "the item that was thrown at is gone, those behind it stay";
  EXPECT_EQ(queue.try_emplace(4), Status::ok) << "and its place is free";
  EXPECT_EQ(queue.consume(throw_at_one), 3U);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(Counted::alive, 0);
}

// Where a position's type, a ticket's and a 32-bit count of either run over.
inline const std::vector<std::uint64_t> kEdges{std::uint64_t{1} << 32, std::uint64_t{1} << 31,
                                               std::uint64_t{1} << 63, 0};

TYPED_TEST_P(TransferContract, wrap) {
  for (const std::uint64_t edge : kEdges) {
    for (std::uint64_t before = 0; before <= 8; ++before) {
      for (const std::size_t capacity : {1U, 2U, 4U}) {
        StartedAt<QueueOf<TypeParam, int>> queue(capacity, edge - before);
        for (int lap = 0; lap < 12; ++lap) {
          ASSERT_EQ(fill(queue, lap), static_cast<int>(capacity)) << edge << " - " << before;
          ASSERT_EQ(queue.size(), capacity);
          ASSERT_EQ(drain(queue, lap), static_cast<int>(capacity)) << edge << " - " << before;
        }
        queue.close();
        int item = -1;
        ASSERT_EQ(queue.try_pop(item), Status::closed);
      }
    }
  }
}

// A push and a close() in quick succession, against a consumer that is looking just then.
TYPED_TEST_P(TransferContract, the_last_push_before_close_is_popped) {
  std::vector<std::unique_ptr<QueueOf<TypeParam, int>>> queues(rounds(2000));
  for (auto& queue : queues) queue = std::make_unique<QueueOf<TypeParam, int>>(1);
  std::atomic<std::size_t> looked_at{0};  // queues that the consumer has come to
  std::thread producer([&, dice = random()]() mutable {
    for (std::size_t i = 0; i < queues.size(); ++i) {
      idle_until([&] { return looked_at.load() > i; });
      for (auto pause = dice() % 64; pause != 0; --pause) {
        std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the loop
      }
      EXPECT_EQ(queues[i]->try_push(1), Status::ok);
      queues[i]->close();
    }
  });
  std::size_t lost = 0;
  for (auto& queue : queues) {
    looked_at.fetch_add(1);
    int item = 0;
    Status status = Status::empty;
    idle_until([&] { return (status = queue->try_pop(item)) != Status::empty; });
    if (status == Status::closed) ++lost;
  }
  producer.join();
  EXPECT_EQ(lost, 0U);
}

REGISTER_TYPED_TEST_SUITE_P(TransferContract, capacity_is_the_next_power_of_two,
                            impossible_capacities_are_refused, its_size, close_drains, visitor,
                            visitor_that_pushes_ends, exception_in_visitor, wrap,
                            the_last_push_before_close_is_popped);

// --- Stress: real threads. Each item exactly once, in its producer's order. ---
// No failure among n items or races bounds the rate of failures below 3/n (95 %), on this machine.

// Runs the plan on queues of several capacities, each with a seed of its own.
template <class Queue>
void expect_good(StressPlan plan, std::uint64_t stream) {
  auto dice = random(stream);
  const std::size_t all = plan.items_each;
  for (const std::size_t capacity : {1U, 2U, 8U, 256U}) {
    in_parts(all, [&](std::size_t items) {
      plan.items_each = items;
      plan.seed = dice();
      Queue queue(capacity);
      const Verdict verdict = stress(queue, plan);
      ASSERT_TRUE(verdict.good()) << verdict << "; capacity " << capacity;
      ASSERT_EQ(verdict.accepted, plan.items_each * plan.producers);
    });
  }
}

// Runs `work` on so many threads, none of which begins before all are there.
template <class Work>
void all_at_once(unsigned count, const Work& work) {
  std::atomic<unsigned> missing{count};
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      missing.fetch_sub(1);
      while (missing.load() != 0) std::this_thread::yield();
      work();
    });
  }
}

template <class Family>
class TransferStress : public testing::Test {};
TYPED_TEST_SUITE_P(TransferStress);

TYPED_TEST_P(TransferStress, stress_spsc) {
  expect_good<QueueOf<TypeParam, StressItem>>({.items_each = rounds(30'000)}, 1);
}

REGISTER_TYPED_TEST_SUITE_P(TransferStress, stress_spsc);

template <class Family>
class TransferManyProducers : public testing::Test {};
TYPED_TEST_SUITE_P(TransferManyProducers);

TYPED_TEST_P(TransferManyProducers, stress_mpsc) {
  using Queue = QueueOf<TypeParam, StressItem>;
  expect_good<Queue>({.producers = 2, .items_each = rounds(15'000)}, 2);
  expect_good<Queue>({.producers = 5, .items_each = rounds(6'000)}, 3);
}

// Losing a race to another producer is no reason to say `full`.
TYPED_TEST_P(TransferManyProducers, no_false_full) {
  constexpr unsigned threads = 4;
  constexpr int items_each = 256;
  for (std::size_t round = 0; round < rounds(100); ++round) {
    QueueOf<TypeParam, int> queue(threads * items_each);
    std::atomic<int> refused{0};
    all_at_once(threads, [&] {
      for (int i = 0; i < items_each; ++i) {
        if (queue.try_push(i) != Status::ok) refused.fetch_add(1);
      }
    });
    ASSERT_EQ(refused.load(), 0);
  }
}

REGISTER_TYPED_TEST_SUITE_P(TransferManyProducers, stress_mpsc, no_false_full);

template <class Family>
class TransferManyConsumers : public testing::Test {};
TYPED_TEST_SUITE_P(TransferManyConsumers);

TYPED_TEST_P(TransferManyConsumers, stress_spmc_and_mpmc) {
  using Queue = QueueOf<TypeParam, StressItem>;
  expect_good<Queue>({.producers = 1, .consumers = 2, .items_each = rounds(30'000)}, 4);
  expect_good<Queue>({.producers = 2, .consumers = 2, .items_each = rounds(15'000)}, 5);
  expect_good<Queue>({.producers = 4, .consumers = 4, .items_each = rounds(6'000)}, 6);
}

// Losing a race to another consumer is no reason to say `empty`.
TYPED_TEST_P(TransferManyConsumers, no_false_empty) {
  constexpr unsigned threads = 4;
  constexpr int items_each = 256;
  for (std::size_t round = 0; round < rounds(100); ++round) {
    QueueOf<TypeParam, int> queue(threads * items_each);
    for (unsigned i = 0; i < threads * items_each; ++i) ASSERT_EQ(queue.try_push(1), Status::ok);
    std::atomic<int> refused{0};
    all_at_once(threads, [&] {
      for (int out = 0, i = 0; i < items_each; ++i) {
        if (queue.try_pop(out) != Status::ok) refused.fetch_add(1);
      }
    });
    ASSERT_EQ(refused.load(), 0);
  }
}

REGISTER_TYPED_TEST_SUITE_P(TransferManyConsumers, stress_spmc_and_mpmc, no_false_empty);

// Queues that anybody may close.
template <class Family>
class TransferCloseRace : public testing::Test {};
TYPED_TEST_SUITE_P(TransferCloseRace);

TYPED_TEST_P(TransferCloseRace, close_races_push) {
  auto dice = random(7);
  std::size_t cut_short = 0;
  const std::size_t races = rounds(500);
  for (std::size_t race = 0; race < races; ++race) {
    const StressPlan plan{.producers = 2,
                          .consumers = TypeParam::consumers_max,
                          .items_each = 1000,
                          .seed = dice(),
                          .close_early = true};
    QueueOf<TypeParam, StressItem> queue(1 + dice() % 16);
    const Verdict verdict = stress(queue, plan);
    ASSERT_TRUE(verdict.good()) << verdict;
    if (verdict.accepted < plan.items_each * plan.producers) ++cut_short;
  }
  EXPECT_GT(cut_short, 0U) << "no close came in the midst of pushes: nothing was raced";
}

REGISTER_TYPED_TEST_SUITE_P(TransferCloseRace, close_races_push);

}  // namespace handoff::test
