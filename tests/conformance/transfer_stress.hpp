// SPDX-License-Identifier: MIT
//
// Many threads against one queue, and the verdict: was each accepted item taken exactly once,
// whole, and in its producer's order?
//
// Works on anything with try_push and try_pop that return a Status; uses batches, visitors and
// closing where the queue has them. The check is on identities, not on counts or sums: each item
// says which thread made it and as which one.
#pragma once

#include "support/patience.hpp"
#include "support/test.hpp"

namespace handoff::test {

struct StressItem {
  std::uint32_t producer = 0;
  std::uint64_t number = 0;
  std::uint64_t check = 0;  // tells a torn item

  static StressItem make(std::uint32_t producer, std::uint64_t number) {
    return {producer, number, mix(producer, number)};
  }
  bool whole() const { return check == mix(producer, number); }

 private:
  static std::uint64_t mix(std::uint64_t producer, std::uint64_t number) {
    return (producer + 1) * 0x9e3779b97f4a7c15U ^ (number * 0xbf58476d1ce4e5b9U);
  }
};

struct StressPlan {
  unsigned producers = 1;
  unsigned consumers = 1;
  std::uint64_t items_each = 1;
  std::uint64_t seed = 0;
  bool close_early = false;  // a further thread closes the queue in the midst, if it comes in time
};

struct Verdict {
  std::uint64_t accepted = 0;
  std::uint64_t lost = 0;  // accepted and never taken
  std::uint64_t unexpected = 0;  // taken twice, or never accepted
  std::uint64_t torn = 0;  // not what was pushed
  std::uint64_t out_of_order = 0;  // after a later one of the same producer, by one consumer
  std::uint64_t late = 0;  // accepted though close() had returned before

  bool good() const { return lost + unexpected + torn + out_of_order + late == 0; }
};

inline std::ostream& operator<<(std::ostream& out, const Verdict& v) {
  return out << v.accepted << " accepted, " << v.lost << " lost, " << v.unexpected
             << " unexpected, " << v.torn << " torn, " << v.out_of_order << " out of order, "
             << v.late << " accepted after close()";
}

template <class Queue>
concept Closes = requires(Queue& queue) { queue.close(); };
template <class Queue>
concept Batches = requires(Queue& queue, std::span<StressItem> items) {
  queue.try_push_batch(items);
  queue.try_pop_batch(items);
};
template <class Queue>
concept Visits = requires(Queue& queue) { queue.consume([](StressItem&) {}, std::size_t{1}); };

template <class Queue>
class Stress {
 public:
  Stress(Queue& queue, const StressPlan& plan)
      : queue_(queue),
        plan_(plan),
        accepted_(plan.producers),
        late_(plan.producers),
        diaries_(plan.consumers),
        producing_(plan.producers) {
    for (Diary& diary : diaries_) {
      diary.times.assign(plan.producers, std::vector<std::uint8_t>(plan.items_each));
      diary.next.assign(plan.producers, 0);
    }
  }

  Verdict run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < plan_.producers; ++i) threads.emplace_back([=, this] { produce(i); });
    for (unsigned i = 0; i < plan_.consumers; ++i) threads.emplace_back([=, this] { consume(i); });
    if (plan_.close_early) threads.emplace_back([this] { close_early(); });
    for (std::thread& thread : threads) thread.join();
    return judge();
  }

 private:
  static constexpr std::size_t kBatchMax = 7;

  struct Diary {  // what one consumer saw
    std::vector<std::vector<std::uint8_t>> times;  // [producer][number]
    std::vector<std::uint64_t> next;  // [producer]: the least number that may follow
    std::uint64_t torn = 0;
    std::uint64_t unexpected = 0;
    std::uint64_t out_of_order = 0;
  };

  std::mt19937_64 random(std::uint64_t stream) const {
    std::seed_seq mix{plan_.seed, stream};
    return std::mt19937_64(mix);
  }

  void produce(unsigned self) {
    auto dice = random(self);
    std::uint64_t& accepted = accepted_[self];
    Idling idling;
    while (accepted < plan_.items_each) {
      const bool close_has_returned = close_returned_.load();
      const std::size_t want = 1 + dice() % kBatchMax;
      std::uint64_t pushed = 0;
      bool closed = false;
      if (Batches<Queue> && want > 1 && dice() % 2 == 0) {
        pushed = push_batch(self, accepted, want);
      } else {
        const Status status = queue_.try_push(StressItem::make(self, accepted));
        pushed = status == Status::ok ? 1 : 0;
        closed = status == Status::closed;
      }
      accepted += pushed;
      if (close_has_returned) late_[self] += pushed;
      if (closed) break;
      pushed == 0 ? idling.wait() : idling.reset();
    }
    if (producing_.fetch_sub(1) == 1) {
      if constexpr (Closes<Queue>) queue_.close();
    }
  }

  std::uint64_t push_batch(unsigned self, std::uint64_t first, std::size_t want) {
    std::array<StressItem, kBatchMax> items;
    want = std::min<std::size_t>(want, plan_.items_each - first);
    for (std::size_t i = 0; i < want; ++i) items[i] = StressItem::make(self, first + i);
    if constexpr (Batches<Queue>) return queue_.try_push_batch(std::span(items).first(want));
    return 0;
  }

  void consume(unsigned self) {
    auto dice = random(plan_.producers + self);
    Diary& diary = diaries_[self];
    Idling idling;
    while (true) {
      const bool all_pushed = producing_.load() == 0;
      const std::size_t want = 1 + dice() % kBatchMax;
      const std::size_t taken = dice() % 2 == 0 ? take_many(diary, want, dice) : 0;
      if (taken != 0) {
        idling.reset();
        continue;
      }
      StressItem item;
      const Status status = queue_.try_pop(item);
      if (status == Status::ok) {
        write_down(diary, item);
        idling.reset();
      } else if (Closes<Queue> ? status == Status::closed : all_pushed) {
        break;
      } else {
        idling.wait();
      }
    }
  }

  std::size_t take_many(Diary& diary, std::size_t want, std::mt19937_64& dice) {
    const bool visit = dice() % 2 == 0;
    if constexpr (Visits<Queue>) {
      if (visit) return queue_.consume([&](StressItem& i) { write_down(diary, i); }, want);
    }
    if constexpr (Batches<Queue>) {
      std::array<StressItem, kBatchMax> items;
      const std::size_t taken = queue_.try_pop_batch(std::span(items).first(want));
      for (std::size_t i = 0; i < taken; ++i) write_down(diary, items[i]);
      return taken;
    }
    return 0;
  }

  void write_down(Diary& diary, const StressItem& item) {
    if (!item.whole()) {
      ++diary.torn;
    } else if (item.producer >= plan_.producers || item.number >= plan_.items_each) {
      ++diary.unexpected;
    } else {
      std::uint64_t& next = diary.next[item.producer];
      if (item.number < next) ++diary.out_of_order;
      next = item.number + 1;
      ++diary.times[item.producer][item.number];
    }
  }

  // When a random part of the items has been pushed, as the closer's own dice and the other
  // threads' speed have it.
  void close_early() {
    auto dice = random(plan_.producers + plan_.consumers);
    for (std::uint64_t i = dice() % (plan_.items_each * 4); i != 0; --i) {
      if (i % 64 == 0) std::this_thread::yield();
      std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the loop
    }
    if constexpr (Closes<Queue>) queue_.close();
    close_returned_.store(true);
  }

  Verdict judge() const {
    Verdict verdict;
    for (unsigned p = 0; p < plan_.producers; ++p) {
      verdict.accepted += accepted_[p];
      verdict.late += late_[p];
      for (std::uint64_t number = 0; number < plan_.items_each; ++number) {
        std::uint64_t times = 0;
        for (const Diary& diary : diaries_) times += diary.times[p][number];
        const std::uint64_t expected = number < accepted_[p] ? 1 : 0;
        verdict.lost += times < expected ? 1 : 0;
        verdict.unexpected += times > expected ? times - expected : 0;
      }
    }
    for (const Diary& diary : diaries_) {
      verdict.torn += diary.torn;
      verdict.unexpected += diary.unexpected;
      verdict.out_of_order += diary.out_of_order;
    }
    return verdict;
  }

  Queue& queue_;
  const StressPlan plan_;
  std::vector<std::uint64_t> accepted_;  // [producer]
  std::vector<std::uint64_t> late_;  // [producer]
  std::vector<Diary> diaries_;  // [consumer]
  std::atomic<unsigned> producing_;
  std::atomic<bool> close_returned_{false};
};

template <class Queue>
Verdict stress(Queue& queue, const StressPlan& plan) {
  return Stress<Queue>(queue, plan).run();
}

}  // namespace handoff::test
