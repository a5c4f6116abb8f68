// SPDX-License-Identifier: MIT
//
// A bounded queue from one thread to one other.
//
//   SpscRing<Frame> ring(64);
//   while (ring.try_push(std::move(frame)) == Status::full) { ... }      // the producer
//   ring.consume([](Frame& next) { show(next); });                       // the consumer
//
// For: a pipeline's stages, a device and its reader; the cheapest queue between two threads. Not
// for: more than one thread on a side (MpscRing, MpmcRing); waiting (Channel).
// Tier: transfer.
// Concurrency: only one producer thread may call try_push, try_emplace, try_push_batch and close;
//   only one consumer thread may call try_pop, try_pop_batch and consume; the rest is thread-safe.
// Order: first in, first out. What the producer did before a push happens before the pop.
// Blocks: never. Allocates: the constructor only. Neither side ever waits for the other: all calls
//   are wait-free.
// Cost: each look at an empty ring takes a cache line from the producer. A consumer that pauses for
//   some tens of nanoseconds after it found few items gets up to 1.6 times the throughput.
// Full: `full`, and the item is still the caller's. `full` and `empty` are linearizable.
// Closed: only the producer may close(). Then pops drain and return `closed` after that; pushes
//   return `closed`.
// Exceptions: a constructor that throws in try_emplace leaves the ring as it was. If a visitor
//   throws, its item is consumed and the rest stay. A visitor, and the end of what it visits, must
//   not take from this ring; consume() visits those that were there at the call.
// Destructor: destroys the items that are left.
// The calls: ring.hpp. Protocol and sources: ring_positions.hpp. Proof: docs/design/rings.md.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/queue/detail/ring.hpp>
#include <handoff/queue/internal/ring_positions.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class SpscRing : public detail::BasicRing<T, detail::PositionPlaces<T>> {
 public:
  using detail::BasicRing<T, detail::PositionPlaces<T>>::BasicRing;
};

static_assert(Transfer<SpscRing<int>>);

}}  // namespace handoff::HANDOFF_ABI
