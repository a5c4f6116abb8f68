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
// Concurrency: one consumer thread calls try_pop, try_pop_batch and consume; any thread the rest.
// Order: each producer's items come out in its order; what it did before a push happens before
//   the pop.
// Blocks, allocates: never, but the constructor allocates. Pushes are lock-free: one is repeated
//   only because another succeeded. Pops are wait-free.
// Full: `full`, and the item is still the caller's.
// `full` and `empty` are weaker than in a sequential queue, since a push claims its place before
//   it fills it. `full`: every place is claimed or not yet given back, also while the consumer's
//   visitor still has an item in hand. `empty`: the next item in turn is not there yet,
//   even if its place is claimed and pushes that came later are done.
// Closed: any thread may close(). It is exact: it happens between two claims, and no push that
//   begins after it succeeds. Pops then drain, then say `closed`; pushes say `closed`.
// Exceptions: nothing that may throw is done in a claimed place: try_emplace refuses such
//   constructors when compiled, try_push(const T&) copies first. A visitor that throws has consumed
//   its item, and the rest stays.
// Destructor: destroys what is left.
// The calls: ticket_ring.hpp. Proof: docs/design/rings.md.
#pragma once

#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/queue/detail/ring_slots.hpp>
#include <handoff/queue/detail/ticket_ring.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class MpscRing : public detail::TicketRing<T, detail::Consumers::one> {
  static_assert(detail::HeldByValue<T>,
                "a ring holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a ring's item must move without throwing: mark its move constructor noexcept, or "
                "hold a std::unique_ptr to it");

 public:
  using detail::TicketRing<T, detail::Consumers::one>::TicketRing;
};

}}  // namespace handoff::HANDOFF_ABI
