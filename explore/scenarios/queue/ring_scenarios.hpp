// SPDX-License-Identifier: MIT
//
// Scenarios that all rings share, and what they check: each item that was accepted comes out once,
// whole, in its producer's order; a closed ring drains.
#pragma once

#include <handoff/core/status.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/books.hpp"
#include "explore/scenario.hpp"
#include "support/started_at.hpp"

namespace handoff::test {

// An item whose two halves are plain data: a torn or early read shows, and its moves are counted by
// the race detector of the cell it lies in.
struct RingItem {
  int producer = 0;
  int number = 0;
};

template <class Ring>
void push_all(Ring& ring, int producer, int count) {
  for (int number = 1; number <= count; ++number) {
    while (ring.try_push(RingItem{producer, number}) == Status::full) sync::pause();
  }
}

// Takes until `count` items are here, or, with a negative count, until the ring is closed.
template <class Ring>
std::array<int, 4> pop_all(Ring& ring, int count) {
  std::array<int, 4> last{};  // the number that came last, by producer
  for (int taken = 0; taken != count;) {
    RingItem item;
    const Status status = ring.try_pop(item);
    if (status == Status::closed) break;
    if (status == Status::empty) {
      sync::pause();
      continue;
    }
    ++taken;
    auto& before = last[static_cast<std::size_t>(item.producer)];
    explore::check(item.number > before, "each producer's items keep their order");
    before = item.number;
  }
  return last;
}

// One producer, one consumer; `where`: what a ring is made with.
template <class Ring, class... Where>
void one_to_one(Where... where) {
  Ring ring(where...);
  explore::Thread producer([&] {
    push_all(ring, 1, 3);
    ring.close();
  });
  const auto last = pop_all(ring, -1);
  explore::check(last[1] == 3, "all that was accepted came out before `closed`");
}

// Two producers race for places; the consumer sees each one's items in order.
template <class Ring, class... Where>
void two_producers(Where... where) {
  Ring ring(where...);
  explore::Thread first([&] { push_all(ring, 1, 2); });
  explore::Thread second([&] { push_all(ring, 2, 1); });
  const auto last = pop_all(ring, 3);
  explore::check(last[1] == 2 && last[2] == 1, "each item once");
}

// A close comes between two claims: what was accepted comes out, nothing comes after.
template <class Ring, class... Where>
void close_races_push(Where... where) {
  Ring ring(where...);
  sync::cell<int> before_close(0);
  Status pushed{};
  explore::Thread producer([&] { pushed = ring.try_push(RingItem{1, 1}); });
  explore::Thread closer([&] {
    before_close.write() = 1;
    ring.close();
  });
  const auto last = pop_all(ring, -1);
  explore::check(before_close.read() == 1, "what the closer did is visible");
  explore::check(ring.closed(), "closed was said");
  producer.join();
  closer.join();
  explore::check(last[1] == (pushed == Status::ok ? 1 : 0), "accepted is delivered");
  explore::check(pushed == Status::ok || pushed == Status::closed, "there was room");
  explore::outcome(pushed == Status::ok);
}

// A batch goes in and comes out while the other side works item by item.
template <class Ring, class... Where>
void batches(Where... where) {
  Ring ring(where...);
  explore::Thread producer([&] {
    std::array<RingItem, 3> items{RingItem{1, 1}, RingItem{1, 2}, RingItem{1, 3}};
    for (std::span<RingItem> rest = items; !rest.empty();) {
      const std::size_t pushed = ring.try_push_batch(rest);
      rest = rest.subspan(pushed);
      if (pushed == 0) sync::pause();
    }
  });
  int sum = 0;
  for (int taken = 0; taken < 3;) {
    std::array<RingItem, 2> out;
    const std::size_t popped = ring.try_pop_batch(out);
    for (std::size_t i = 0; i < popped; ++i) {
      explore::check(out[i].number == ++taken, "a batch keeps its order");
      sum += out[i].number;
    }
    if (popped == 0) sync::pause();
  }
  producer.join();
  explore::check(sum == 6 && ring.empty(), "each item once");
}

// The visitor has the item to itself until it returns.
template <class Ring>
void visitor() {
  Ring ring(1);
  explore::Thread producer([&] { push_all(ring, 1, 2); });
  int seen = 0;
  while (seen < 2) {
    const std::size_t visited = ring.consume([&](RingItem& item) {
      explore::check(item.number == ++seen, "in order");
      item.number = 0;  // a write, so that a producer that came too early would race
    });
    if (visited == 0) sync::pause();
  }
}

// An item that is counted while it lives; not where it has been moved from.
class OwnedItem {
 public:
  OwnedItem() = default;
  explicit OwnedItem(sync::atomic<int>& alive) : alive_(&alive) { count(1); }
  OwnedItem(OwnedItem&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  OwnedItem& operator=(OwnedItem&& other) noexcept {
    if (alive_ != nullptr) count(-1);
    alive_ = std::exchange(other.alive_, nullptr);
    return *this;
  }
  ~OwnedItem() {
    if (alive_ != nullptr) count(-1);
  }
  bool is_here() const { return alive_ != nullptr; }

 private:
  void count(int more) { alive_->fetch_add(more, sync::order::relaxed); }

  sync::atomic<int>* alive_ = nullptr;
};

// Two are taken, by a visitor and by a pop; what is left ends with the ring that `make` makes.
template <class Make>
void ends_what_is_left(const Make& make) {
  sync::atomic<int> alive(0);
  const auto living = [&] { return alive.load(sync::order::relaxed); };
  {
    auto ring = make();
    explore::Thread producer([&] {
      for (int i = 0; i < 4; ++i) {
        explore::check(ring->try_push(OwnedItem(alive)) == Status::ok, "there is room");
      }
    });
    const auto look = [](OwnedItem& item) { explore::check(item.is_here(), "whole"); };
    while (ring->consume(look, 1) == 0) sync::pause();
    producer.join();
    explore::check(living() == 3 && ring->size() == 3, "the visited one is gone");
    OwnedItem taken;
    explore::check(ring->try_pop(taken) == Status::ok && taken.is_here(), "whole");
    explore::check(living() == 3 && ring->size() == 2, "it is here now");
    taken = OwnedItem();
    explore::check(living() == 2, "the rest is in there");
    int seen = 0;
    explore::check(ring->consume([&](OwnedItem&) { ++seen; }, 0) == 0 && seen == 0, "none asked");
  }
  explore::check(living() == 0, "all ended");
}

// An item that is replaced by one from the queue pops the next one when it ends.
class PopsItem {
 public:
  PopsItem() noexcept = default;
  PopsItem(int number, void (*pop)(void* queue), void* queue) noexcept
      : number_(number), pop_(pop), queue_(queue) {}
  PopsItem(PopsItem&& other) noexcept
      : number_(std::exchange(other.number_, 0)),
        pop_(std::exchange(other.pop_, nullptr)),
        queue_(other.queue_) {}
  PopsItem& operator=(PopsItem&& other) noexcept {
    const PopsItem replaced(std::move(*this));
    number_ = std::exchange(other.number_, 0);
    pop_ = std::exchange(other.pop_, nullptr);
    queue_ = other.queue_;
    return *this;
  }
  ~PopsItem() {
    if (pop_ != nullptr) pop_(queue_);
  }
  int number() const noexcept { return number_; }

 private:
  int number_ = 0;
  void (*pop_)(void* queue) = nullptr;
  void* queue_ = nullptr;
};

// Each item once, though the end of what a pop replaces pops, too; a pop of one, or of a batch.
template <class Make>
void what_is_replaced_pops(const Make& make, bool in_a_batch = false) {
  const auto queue = make();
  using Queue = std::remove_cvref_t<decltype(*queue)>;
  struct Popped {
    Queue& queue;
    int sum = 0;
    int count = 0;
  } popped{*queue};
  const auto pop = [](void* where) {
    auto& to = *static_cast<Popped*>(where);
    PopsItem item;
    if (to.queue.try_pop(item) != Status::ok) return;
    to.sum += item.number();
    ++to.count;
  };
  explore::Thread producer([&] {
    for (int number = 1; number <= 2; ++number) {
      while (queue->try_push(PopsItem(number, nullptr, nullptr)) == Status::full) sync::pause();
    }
  });
  {
    std::array<PopsItem, 2> out{PopsItem(0, pop, &popped), PopsItem()};
    const std::size_t count = in_a_batch                             ? queue->try_pop_batch(out)
                              : queue->try_pop(out[0]) == Status::ok ? 1
                                                                     : 0;
    for (std::size_t i = 0; i < count; ++i) popped.sum += out[i].number();
    popped.count += static_cast<int>(count);
  }
  producer.join();
  while (popped.count < 2) pop(&popped);
  explore::check(popped.sum == 3 && queue->empty(), "each item once");
}

// An item that is popped has left its place before what it replaces ends, which pushes.
template <class Make>
void what_is_replaced_pushes(const Make& make) {
  const auto queue = make();
  using Queue = std::remove_cvref_t<decltype(*queue)>;
  while (queue->try_push(PopsItem(1, nullptr, nullptr)) == Status::ok) {
  }
  const auto push = [](void* where) {
    explore::check(
        static_cast<Queue*>(where)->try_push(PopsItem(2, nullptr, nullptr)) == Status::ok,
        "there is a place");
  };
  explore::Thread consumer([&] {
    PopsItem out(0, push, queue.get());
    explore::check(queue->try_pop(out) == Status::ok && out.number() == 1, "the first");
  });
  (void)queue->empty();
}

// Those that every bounded ring has, under the names of one face.
template <template <class> class Ring>
struct RingScenarios {
  using Items = Audited<Ring<RingItem>>;
  template <class T, std::size_t kPlaces>
  static std::unique_ptr<Ring<T>> made() {
    return std::make_unique<Ring<T>>(kPlaces);
  }
  explicit RingScenarios(const std::string& face)
      : all{{face + "/batch", [] { batches<Items>(2UL); }},
            {face + "/visitor", &visitor<Items>},
            {face + "/ends_what_is_left", [] { ends_what_is_left(&made<OwnedItem, 4>); }},
            {face + "/what_is_replaced_pops", [] { what_is_replaced_pops(&made<PopsItem, 2>); }},
            {face + "/what_a_batch_replaces_pops",
             [] { what_is_replaced_pops(&made<PopsItem, 2>, true); }},
            {face + "/what_is_replaced_pushes", [] { what_is_replaced_pushes(&made<PopsItem, 2>); },
             Size::single}} {}
  const Scenario all[6];
};

}  // namespace handoff::test
