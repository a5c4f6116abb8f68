// SPDX-License-Identifier: MIT
//
// Scenarios that rings in shared memory share, of one producer and of many: the same program on
// each, with one producer. A parent that learns of a death from the kernel is a thread that waits
// for the process.
#pragma once

#include <handoff/process/shared_mpsc_ring.hpp>
#include <handoff/process/shared_ring.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "explore/scenarios/process/shared_storage.hpp"

namespace handoff::test {

// A face: how its ring is made, what pushes into it, and what is said of a dead producer, before
// its successor is there and after.
struct OneProducer {
  using Ring = SharedRing<SharedItem>;
  struct Memory : Shared<Ring> {
    explicit Memory(std::size_t capacity) : Shared(capacity) {}
  };
  struct Out : Ring::Producer {
    explicit Out(const Ring& ring) : Producer(ring) {}
  };
  static void died(Ring&) {}
  static void succeeded(Ring& ring) { ring.recovered(); }
};
struct ManyProducers {
  using Ring = SharedMpscRing<SharedItem>;
  struct Memory : Shared<Ring> {
    explicit Memory(std::size_t capacity) : Shared(capacity, std::size_t{1}) {}
  };
  struct Out : Ring::Producer {
    explicit Out(const Ring& ring) : Producer(ring, 0) {}
  };
  static void died(Ring& ring) { (void)ring.producer_died(0); }
  static void succeeded(Ring&) {}
};

// Which items came until the ring was closed, a bit each: later ones later, none twice.
template <class Consumer>
std::uint32_t pop_in_order(Consumer& in) {
  std::uint32_t seen = 0;
  SharedItem item;
  while (in.pop(item) == Status::ok) {
    const std::uint32_t bit = 1U << number_of(item);
    explore::check(seen < bit, "in order");
    seen |= bit;
  }
  explore::check(!in.damaged(), "nobody lied");
  return seen;
}

// Pushes the numbers from `first` to `last`.
template <class Out>
void push_numbers(Out& out, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first; i <= last; ++i) {
    explore::check(out.push(shared_item(i)) == Status::ok, "it waits for room");
  }
}

// Some laps of one place, asleep and awake; each end attaches by itself.
template <class Face>
void laps(std::size_t capacity) {
  typename Face::Memory shared(capacity);
  explore::Thread producer([&] {
    auto ring = Face::Ring::attach(shared.storage.bytes());
    typename Face::Out out(ring);
    push_numbers(out, 1, 3);
    ring.close();
  });
  typename Face::Ring::Consumer in(Face::Ring::attach(shared.storage.bytes()));
  explore::check(pop_in_order(in) == (2 | 4 | 8), "each once");
}

// Nobody makes room any more: the close is what the producer hears.
template <class Face>
void close_wakes() {
  typename Face::Memory shared(1);
  explore::Thread producer([&] {
    typename Face::Out out(shared.ring);
    explore::check(out.push(shared_item(1)) == Status::ok, "it began before the close");
    explore::check(out.push(shared_item(2)) == Status::closed, "there is no room");
  });
  while (shared.ring.empty()) sync::pause();
  shared.ring.close();
}

// Another producer goes on where the dead one came to; with one place all laps depend on it.
template <class Face>
void producer_is_replaced() {
  typename Face::Memory shared(1);
  explore::Thread parent([&] {
    bool is_dead = false;
    {
      explore::Process process([&] {
        typename Face::Out out(shared.ring);
        push_numbers(out, 1, 2);
      });
      is_dead = process.wait();
    }
    // Nothing tells how far the dead one had come, but the ring.
    if (is_dead) Face::died(shared.ring);
    typename Face::Out out(shared.ring);
    if (is_dead) Face::succeeded(shared.ring);
    push_numbers(out, 3, 3);
    shared.ring.close();
  });
  typename Face::Ring::Consumer in(shared.ring);
  const std::uint32_t seen = pop_in_order(in);
  explore::check((seen & 8) != 0 && (seen & 6) != 4, "the successor's came, and no gap before it");
  explore::outcome(seen);
}

// Dies between peek and release, or between giving back and saying so; a successor gets what was
// not given back.
template <class Face>
void consumer_is_replaced() {
  typename Face::Memory shared(1);
  bool released = false;
  explore::Thread producer([&] {
    typename Face::Out out(shared.ring);
    push_numbers(out, 1, 2);
    shared.ring.close();
  });
  {
    explore::Process process([&] {
      typename Face::Ring::Consumer in(shared.ring);
      peek_and_release(in, 1);
      released = true;
    });
    if (process.wait()) shared.ring.recovered();
  }
  typename Face::Ring::Consumer successor(shared.ring);
  const std::uint32_t seen = pop_in_order(successor);
  explore::check(seen == 4 || (seen == 6 && !released), "none is lost");
  explore::outcome(seen);
}

// The producer waits for room that nobody will make.
template <class Face>
void consumer_dies() {
  typename Face::Memory shared(1);
  explore::Thread producer([&] {
    typename Face::Out out(shared.ring);
    std::uint32_t pushed = 0;
    while (pushed < 3 && out.push(shared_item(pushed + 1)) == Status::ok) ++pushed;
    explore::outcome(pushed);
  });
  explore::Process process([&] {
    typename Face::Ring::Consumer in(shared.ring);
    for (std::uint32_t i = 1; i <= 3; ++i) peek_and_release(in, i);
  });
  if (process.wait()) shared.ring.consumer_died();
}

// All of them, under the names of one face.
template <class Face>
struct SharedRingScenarios {
  explicit SharedRingScenarios(const std::string& face)
      : all{{face + "/laps", [] { laps<Face>(1); }},
            {face + "/laps_of_two", [] { laps<Face>(2); }},
            {face + "/close_wakes", &close_wakes<Face>},
            {face + "/producer_is_replaced", &producer_is_replaced<Face>, Size::small, 1},
            {face + "/consumer_is_replaced", &consumer_is_replaced<Face>, Size::small, 1},
            {face + "/consumer_dies", &consumer_dies<Face>, Size::small, 1}} {}
  const Scenario all[6];
};

}  // namespace handoff::test
