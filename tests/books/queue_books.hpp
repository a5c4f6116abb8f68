// SPDX-License-Identifier: MIT
//
// The books of queue/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/queue/channel.hpp>
#include <handoff/queue/detail/rendezvous.hpp>
#include <handoff/queue/detail/ring.hpp>
#include <handoff/queue/detail/ring_segments.hpp>
#include <handoff/queue/detail/ring_tickets.hpp>
#include <handoff/queue/detail/select_list.hpp>
#include <handoff/queue/internal/ring_positions.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/queue/steal_deque.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The ends are no further apart than there are places, and no limit is ahead of the other end.
template <class T>
struct Books<PositionPlaces<T>> {
  static std::string fault(const PositionPlaces<T>& places) {
    const std::uint64_t head = test::now(places.consumer_.position);
    const std::uint64_t tail = test::now(places.producer_.position);
    const std::uint64_t capacity = places.capacity();
    if (tail - head > capacity) return "SpscRing: more items than places";
    if (head + capacity - places.producer_.limit > capacity) {
      return "SpscRing: the producer's limit is ahead of the head";
    }
    if (tail - places.consumer_.limit > capacity) {
      return "SpscRing: the consumer's limit is ahead of the tail";
    }
    return {};
  }
};

// Each place waits for what comes next to it.
template <class T, Consumers kConsumers>
struct Books<TicketPlaces<T, kConsumers>> {
  static std::string fault(const TicketPlaces<T, kConsumers>& ring) {
    using Ring = TicketPlaces<T, kConsumers>;
    const auto head = test::now(ring.head_.next);
    const auto tail = test::now(ring.tail_.next) & ~Ring::kClosed;
    const std::uint64_t items = (tail - head) / Ring::kStep;
    if (items > ring.capacity()) return "TicketRing: more items than places";
    for (std::uint64_t i = 0; i < ring.capacity(); ++i) {
      const auto ticket = head + Ring::kStep * i;
      const auto state = test::now(ring.place(ticket).state);
      if (i < items && state != (ticket | Ring::kHolds) && state != ticket - Ring::kFailed) {
        return "TicketRing: a claimed place holds no item";
      }
      if (i >= items && state != ticket) return "TicketRing: a free place does not say so";
    }
    return {};
  }
};
template <class T, class Places>
struct Books<BasicRing<T, Places>> {
  static Places& places(BasicRing<T, Places>& ring) { return ring.places_; }
  static std::string fault(const BasicRing<T, Places>& ring) {
    return Books<Places>::fault(ring.places_);
  }
};
template <class T>
struct Books<SpscRing<T>> : Books<BasicRing<T, PositionPlaces<T>>> {};
template <class T>
struct Books<MpscRing<T>> : Books<BasicRing<T, TicketPlaces<T, Consumers::one>>> {};
template <class T>
struct Books<MpmcRing<T>> : Books<BasicRing<T, TicketPlaces<T, Consumers::many>>> {};
template <class T, std::size_t kPlaces>
struct Books<SegmentQueue<T, kPlaces>> : Books<BasicRing<T, SegmentPlaces<T, kPlaces>>> {};

// From the head's segment the links lead over the tail's to the end, and the spare one is none of
// them. What lies between the two ends is what was counted.
template <class T, std::size_t kPlaces>
struct Books<SegmentPlaces<T, kPlaces>> {
  static std::string fault(const SegmentPlaces<T, kPlaces>& queue) {
    const std::uint64_t popped = test::now(queue.popped_);
    const std::uint64_t items = test::now(queue.pushed_) - popped;
    if (static_cast<std::int64_t>(items) < 0) return "SegmentQueue: more popped than pushed";
    if (queue.pushed_seen_.read() - popped > items) return "SegmentQueue: pushed_seen_ is wrong";
    const auto* const spare = test::now(queue.spare_);
    std::uint64_t before_tail = 0;  // segments
    std::uint64_t segments = 0;
    bool has_tail = false;
    for (const auto* segment = queue.head_segment_.read(); segment != nullptr;
         segment = segment->next.read()) {
      if (segment == spare) return "SegmentQueue: the spare segment is in use";
      if (segment == queue.tail_segment_.read()) has_tail = true;
      if (!has_tail) ++before_tail;
      if (before_tail > items / kPlaces + 1) return "SegmentQueue: segments without items";
      if (++segments > kSegmentsMost) return "SegmentQueue: the segments go round in a circle";
    }
    if (!has_tail) return "SegmentQueue: the head does not lead to the tail";
    if (queue.head_place_.read() > kPlaces) return "SegmentQueue: the head is behind its segment";
    if (queue.tail_place_.read() > kPlaces) return "SegmentQueue: the tail is behind its segment";
    if (before_tail * kPlaces + queue.tail_place_.read() != items + queue.head_place_.read()) {
      return "SegmentQueue: the places between head and tail are not as many as the items";
    }
    return {};
  }
  static constexpr std::uint64_t kSegmentsMost = 10'000'000;
};

// The array in use is the last of a row, each twice as large as the one before.
template <class T>
struct Books<StealDeque<T>> {
  static std::string fault(const StealDeque<T>& deque) {
    const std::int64_t top = test::now(deque.top_);
    const std::int64_t bottom = test::now(deque.bottom_);
    if (bottom < top) return "StealDeque: the bottom is above the top";
    if (bottom - top > deque.capacity()) return "StealDeque: more items than places";
    if (deque.room_until_ > top + deque.capacity()) return "StealDeque: room that is not there";
    if (test::now(deque.places_) != deque.largest_.get()) {
      return "StealDeque: thieves read another array";
    }
    for (const auto* places = deque.largest_.get(); places->smaller != nullptr;
         places = places->smaller.get()) {
      if (places->cells.capacity() != 2 * places->smaller->cells.capacity()) {
        return "StealDeque: an array that is not twice as large as the one before";
      }
    }
    return {};
  }
};

template <>
struct Books<SelectList> {
  static std::string fault(const SelectList& list) {
    if (test::now(list.size_) != 0) return "SelectList: somebody is counted";
    if (list.first_.read() != nullptr) return "SelectList: somebody is listed";
    if (list.last_.read() != nullptr) return "SelectList: the last one has not left";
    return {};
  }
};

// Nobody waits.
template <class T, class Queue>
struct Books<Channel<T, Queue>> {
  static std::string fault(const Channel<T, Queue>& channel) {
    if (channel.readers_.was_waiting() != 0) return "Channel: a reader is counted as waiting";
    if (channel.writers_.was_waiting() != 0) return "Channel: a writer is counted as waiting";
    if (std::string fault = Books<SelectList>::fault(channel.selects_); !fault.empty()) {
      return fault;
    }
    return Books<Queue>::fault(channel.queue_);
  }
};

// Nobody waits.
template <>
struct Books<Rendezvous> {
  static std::string fault(const Rendezvous& meeting) {
    if (std::string fault = fault_of(meeting.pushes_, "push"); !fault.empty()) return fault;
    if (std::string fault = fault_of(meeting.pops_, "pop"); !fault.empty()) return fault;
    return Books<SelectList>::fault(meeting.selects_);
  }
  static std::size_t in_line(Rendezvous& meeting, const Rendezvous::Line& line) {
    const sync::Lock lock(meeting.mutex_);
    std::size_t count = 0;
    for (const auto* party = line.first.read(); party != nullptr; party = party->next_.read()) {
      ++count;
    }
    return count;
  }
  static std::string fault_of(const Rendezvous::Line& line, const std::string& side) {
    if (line.first.read() != nullptr) return "Rendezvous: a " + side + " stands in line";
    if (line.last.read() != nullptr) return "Rendezvous: the last " + side + " has not left";
    return {};
  }
};
template <class T>
struct Books<RendezvousChannel<T>> {
  // How many stand in line; while it is in use, too.
  static std::size_t pushes(RendezvousChannel<T>& channel) {
    return Books<Rendezvous>::in_line(channel.meeting_, channel.meeting_.pushes_);
  }
  static std::size_t pops(RendezvousChannel<T>& channel) {
    return Books<Rendezvous>::in_line(channel.meeting_, channel.meeting_.pops_);
  }
  static std::string fault(const RendezvousChannel<T>& channel) {
    return Books<Rendezvous>::fault(channel.meeting_);
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
