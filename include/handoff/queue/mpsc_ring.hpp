// SPDX-License-Identifier: MIT
//
// A bounded queue from many threads to one.
//
//   MpscRing<Job> ring(1024);
//   if (ring.try_push(std::move(job)) == Status::full) { ... }     // any thread
//   ring.consume([](Job& next) { run(next); });                     // one thread
//
// For: an actor's inbox, a logger, results on their way back. Not for: one producer (SpscRing is
// cheaper); more consumers (MpmcRing); waiting (Channel).
// Tier: transfer.
// Concurrency: only one consumer thread may call try_pop, try_pop_batch and consume; the rest is
//   thread-safe.
// Order: each producer's items come out in its order; what it did before a push happens before
//   the pop.
// Blocks: never. Allocates: the constructor only. Pushes are lock-free: a push is repeated only
//   because another one succeeded. Pops are wait-free.
// Full: `full`, and the item is still the caller's.
// `full` and `empty` are weaker than in a sequential queue, since a push claims its place before
//   it fills it. `full`: every place is claimed or not yet given back; the place of an item that
//   the consumer's visitor is working on counts too. `empty`: the next item in turn is not there
//   yet, even if its place is claimed and later pushes are done.
// Closed: any thread may close(). The close is exact: it happens between two claims, and no push
//   that begins after it succeeds. Pops then drain, and then return `closed`; pushes return
//   `closed`.
// Exceptions: as in an MpmcRing.
// Destructor: destroys the items that are left.
// The calls: ring.hpp. Protocol: ring_tickets.hpp. Proof: docs/design/rings.md.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/queue/detail/ring.hpp>
#include <handoff/queue/detail/ring_tickets.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class MpscRing : public detail::BasicRing<T, detail::TicketPlaces<T, detail::Consumers::one>> {
 public:
  using detail::BasicRing<T, detail::TicketPlaces<T, detail::Consumers::one>>::BasicRing;
};

static_assert(Transfer<MpscRing<int>>);

}}  // namespace handoff::HANDOFF_ABI
