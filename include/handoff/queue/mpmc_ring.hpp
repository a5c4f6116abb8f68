// SPDX-License-Identifier: MIT
//
// A bounded queue from many threads to many.
//
//   MpmcRing<Job> ring(1024);
//   if (ring.try_push(std::move(job)) == Status::full) { ... }     // any thread
//   ring.consume([](Job& next) { run(next); }, 16);                 // any thread
//
// For: work that any of several threads may take, a pool of free things. Not for: one consumer
// (MpscRing is cheaper); waiting (Channel).
// Tier: transfer.
// Concurrency: all calls by any thread.
// Order: items leave in the order of their places, each producer's in its own order; several
//   consumers may finish with them in any. What was done before a push happens before the pop.
// Blocks, allocates: never, but the constructor allocates. Lock-free: a step is repeated only
//   because another thread's succeeded.
// Full: `full`, and the item is still the caller's.
// `full` and `empty` are weaker than in a sequential queue, since pushes and pops claim a place
//   before they work on it. `full`: the next place in turn has not been given back, even if later
//   ones have: a visitor that takes its time holds its place. `empty`: the next item in turn is not
//   there yet, even if its place is claimed and pushes that came later are done.
// Closed: any thread may close(). It is exact: it happens between two claims, and no push that
//   begins after it succeeds. Pops then drain and say `closed` once all items are claimed (other
//   consumers may still be at work on the last ones); pushes say `closed`.
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
class MpmcRing : public detail::TicketRing<T, detail::Consumers::many> {
  static_assert(detail::HeldByValue<T>,
                "a ring holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a ring's item must move without throwing: mark its move constructor noexcept, or "
                "hold a std::unique_ptr to it");

 public:
  using detail::TicketRing<T, detail::Consumers::many>::TicketRing;
};

}}  // namespace handoff::HANDOFF_ABI
