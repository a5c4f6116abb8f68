// SPDX-License-Identifier: MIT
//
// Transfer: a queue that items go into on one side and come out of on the other. Code that moves
// items takes a Transfer and need not know which queue it is.
//
//   template <handoff::Transfer Queue>
//   void forward_all(Queue& from, Queue& to) {
//     typename Queue::value_type item;
//     while (from.try_pop(item) == handoff::Status::ok) (void)to.try_push(std::move(item));
//   }
//
// What a model promises:
// - try_push(item): `ok`, the item is in the queue, and comes out once; `full` or `closed`: it was
//   not touched and is still the caller's. It never waits.
// - try_pop(item): `ok`; `empty`, more may come; `closed`, nothing ever will. It never waits.
// - close(): no push that begins after it is accepted, and what was accepted can be popped.
// - What came before a push happens before the pop of its item.
// What it does not promise: which threads may push and pop, an order, and a bound.
// Its models: SpscRing, MpscRing, MpmcRing, SegmentQueue, Channel, RendezvousChannel.
// docs/guide/contract.md has them side by side.
#pragma once

#include <concepts>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class Q>
concept Transfer = requires(Q& queue, const Q& same, typename Q::value_type& item) {
  { queue.try_push(std::move(item)) } -> std::same_as<Status>;
  { queue.try_pop(item) } -> std::same_as<Status>;
  { queue.close() } -> std::same_as<void>;
  { same.closed() } -> std::same_as<bool>;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
