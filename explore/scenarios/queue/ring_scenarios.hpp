// SPDX-License-Identifier: MIT
//
// Scenarios that all rings share, and what they check: each item that was accepted comes out once,
// whole, in its producer's order; a closed ring drains.
#pragma once

#include <array>
#include <cstdint>
#include <handoff/core/status.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/pause.hpp>
#include <memory>
#include <span>
#include <utility>

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

// One producer, one consumer, `capacity` places, positions that begin at `position`.
template <class Ring>
void one_to_one(std::size_t capacity, std::uint64_t position = 0) {
  StartedAt<Ring> ring(capacity, position);
  explore::Thread producer([&] {
    push_all(ring, 1, 3);
    ring.close();
  });
  const auto last = pop_all(ring, -1);
  explore::check(last[1] == 3, "all that was accepted came out before `closed`");
}

// A batch goes in and comes out while the other side works item by item.
template <class Ring>
void batches() {
  Ring ring(2);
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
  explore::check(sum == 6 && ring.was_empty(), "each item once");
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
      item.number = 0;  // a write, so that a producer who came too early would race
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
    explore::check(living() == 3 && ring->was_size() == 3, "the visited one is gone");
    OwnedItem taken;
    explore::check(ring->try_pop(taken) == Status::ok && taken.is_here(), "whole");
    explore::check(living() == 3 && ring->was_size() == 2, "it is here now");
    taken = OwnedItem();
    explore::check(living() == 2, "the rest is in there");
    int seen = 0;
    explore::check(ring->consume([&](OwnedItem&) { ++seen; }, 0) == 0 && seen == 0, "none asked");
  }
  explore::check(living() == 0, "all ended");
}

}  // namespace handoff::test
