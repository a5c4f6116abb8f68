// SPDX-License-Identifier: MIT
//
// A queue without a bound, from many threads to many.
//
//   SegmentQueue<Job> queue;
//   Status s = queue.try_push(std::move(job));                      // any thread
//   queue.consume([](Job& next) { run(next); }, 16);                 // any thread
//
// For: producers that must not wait and whose number of items is not known beforehand. Not for:
// cases with a known bound (a ring is cheaper and tells a producer when it is too fast); waiting
// (Channel).
// Tier: transfer.
// Concurrency: thread-safe.
// Order: first in, first out, one order for all producers; several consumers may finish with the
//   items in any order. What was done before a push happens before the pop.
// Blocks: for a few instructions of another thread at the same end; once per segment also while
//   another pushing thread allocates. The two ends do not block each other.
// Allocates: a push, when the last segment is full and none is spare; a queue that never holds more
//   than a segment uses two segments in turn. A pop frees a segment that is no longer needed.
// Full: never; a push that finds no memory throws std::bad_alloc and leaves its item as it was.
// `empty` and `closed` are exact (linearizable).
// Closed: any thread may close(). No push that begins after it succeeds; pops drain, then return
//   `closed`.
// Exceptions: a constructor or conversion that throws leaves the queue as it was; it must not use
//   this queue. If a visitor throws, its item is consumed and the rest stay.
// Destructor: destroys the items that are left.
// The calls: ring.hpp. Protocol and source: ring_segments.hpp. Proof: docs/design/channel.md.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/queue/detail/ring.hpp>
#include <handoff/queue/detail/ring_segments.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
// A page or so, but enough that the links do not weigh.
consteval std::size_t segment_places(std::size_t item_bytes) {
  const std::size_t in_a_page = 4000 / item_bytes;
  return in_a_page < 16 ? 16 : detail::min(in_a_page, 512);
}
}  // namespace detail

template <class T, std::size_t kPlaces = detail::segment_places(sizeof(T))>
class SegmentQueue : public detail::BasicRing<T, detail::SegmentPlaces<T, kPlaces>> {};

static_assert(Transfer<SegmentQueue<int>>);

}}  // namespace handoff::HANDOFF_ABI
