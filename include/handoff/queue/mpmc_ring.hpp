// SPDX-License-Identifier: MIT
//
// A bounded queue from many threads to many.
//
//   MpmcRing<Job> ring(1024);
//   if (ring.try_push(std::move(job)) == Status::full) { ... }     // any thread
//   ring.consume([](Job& next) { run(next); }, 16);                 // any thread
//
// For: work that any of several threads may take, a pool of free objects. Not for: one consumer
// (MpscRing is cheaper); waiting (Channel).
// Tier: transfer.
// Concurrency: thread-safe.
// Order: items leave in the order of their places, each producer's items in its own order; several
//   consumers may finish with them in any order. What was done before a push happens before the
//   pop.
// Blocks: never. Allocates: the constructor only. Lock-free: a step is repeated only because a step
//   of another thread succeeded.
// Full: `full`, and the item is still the caller's.
// `full` and `empty` are weaker than in a sequential queue, since pushes and pops claim a place
//   before they use it. `full`: the next place in turn has not been given back, even if later
//   places have: a slow visitor keeps its place. `empty`: the next item in turn is not there yet,
//   even if its place is claimed and later pushes are done.
// Closed: any thread may close(). The close is exact: it happens between two claims, and no push
//   that begins after it succeeds. Pops then drain, and return `closed` once all items are claimed
//   (other consumers may still be working on the last ones); pushes return `closed`.
// Exceptions: an item whose constructor throws in try_emplace, or while it is converted, was never
//   pushed; its place counts for `full` until a pop has passed over it. The constructor must not
//   wait for this ring, whose later items it holds back. try_push(const T&) copies first. If a
//   visitor throws, its item is consumed and the rest stay.
// Destructor: destroys the items that are left.
// The calls: ring.hpp. Protocol: ring_tickets.hpp. Proof: docs/design/rings.md.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/queue/detail/ring.hpp>
#include <handoff/queue/detail/ring_tickets.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class MpmcRing : public detail::BasicRing<T, detail::TicketPlaces<T, detail::Consumers::many>> {
 public:
  using detail::BasicRing<T, detail::TicketPlaces<T, detail::Consumers::many>>::BasicRing;
};

static_assert(Transfer<MpmcRing<int>>);

}}  // namespace handoff::HANDOFF_ABI
