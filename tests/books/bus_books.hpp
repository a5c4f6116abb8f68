// SPDX-License-Identifier: MIT
//
// The books of bus/: its rings, what all calls go through, and a bus.
#pragma once

#include <cstdint>
#include <string>

#include <handoff/bus/detail/bus_core.hpp>
#include <handoff/bus/detail/message_ring.hpp>
#include <handoff/bus/message_bus.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// No more messages than places, and what producers remember of the head was so once.
template <class Slot>
struct Books<MessageRing<Slot>> {
  static std::string fault(const MessageRing<Slot>& ring) {
    using Ring = MessageRing<Slot>;
    const auto head = test::now(ring.head_);
    const auto tail = test::now(ring.tail_) & ~Ring::kClosed;
    const std::uint64_t messages = (tail - head) / 2;
    if (messages > ring.capacity()) return "MessageRing: more messages than places";
    if (static_cast<std::int64_t>(head - test::now(ring.head_seen_)) < 0) {
      return "MessageRing: head_seen_ is ahead of the head";
    }
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (ring.mark_at(head + 2 * i) == Ring::kNothing) {
        return "MessageRing: a claimed place was never filled";
      }
    }
    if (ring.mark_at(tail) != Ring::kNothing) return "MessageRing: a place was filled unclaimed";
    if (test::now(ring.waiters.sleepers.count_) != 0)
      return "MessageRing: a producer is counted as asleep";
    return {};
  }
};

// Nobody is in it, and what was accepted is what its rings and its figures say.
template <class Policies, class... Messages>
struct Books<BusCore<Policies, Messages...>> {
  static std::string fault(BusCore<Policies, Messages...>& core) {
    using Ring = typename BusCore<Policies, Messages...>::Ring;
    if (core.is_taking()) return "BusCore: a consumer is at work";
    if (test::now(core.arrivals_.sleepers_.count_) != 0)
      return "BusCore: a consumer is counted as asleep";
    for (std::size_t i = 0; i < core.layout_.rings; ++i) {
      if (std::string fault = Books<Ring>::fault(core.rings_[i]); !fault.empty()) return fault;
    }
    const Tally tally = core.tally();
    if (!tally.balanced()) return "BusCore: more have failed than were handed out";
    if (tally.pending > core.depth()) return "BusCore: more are pending than have places";
    return {};
  }
};

template <class Policies, class... Messages>
struct Books<BasicMessageBus<Policies, Messages...>> {
  static std::string fault(BasicMessageBus<Policies, Messages...>& bus) {
    return Books<BusCore<Policies, Messages...>>::fault(bus.core_);
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
