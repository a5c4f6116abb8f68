// SPDX-License-Identifier: MIT
//
// What the ends of a ring in shared memory do with items of one type: SharedRing's and
// SharedMpscRing's, whose head comments say more.
//
// A `Ring` knows where the item of a position lies. An `End` claims positions and publishes them,
// or finds and releases them, by the protocol of its ring: SharedProducerEnd and SharedConsumerEnd
// (shared_ends.hpp), SharedTicketProducer and SharedTicketConsumer (shared_ticket_ring.hpp).
#pragma once

#include <cstdint>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/ring_watch.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Ring, class End>
class PlaceProducer {
 public:
  using Item = typename Ring::value_type;

  // ok, full or closed.
  Status try_push(const Item& item) noexcept {
    const Status status = end_.try_claim();
    return status == Status::ok ? push_here(item) : status;
  }
  // Waits while the ring is full: ok, closed, timed_out or stopped.
  Status push(const Item& item, const Until& until = {}) {
    const Status status = end_.claim(until);
    return status == Status::ok ? push_here(item) : status;
  }

  // The next place, to be written in any way and then published; again and again the same one.
  // What lies there is left from a lap ago, or zero. ok, full or closed.
  Status try_claim(Item*& place) noexcept { return claimed(end_.try_claim(), place); }
  Status claim(Item*& place, const Until& until = {}) { return claimed(end_.claim(until), place); }
  // What was claimed is an item now. ok; closed: it will not be delivered, or nothing is claimed.
  Status publish() noexcept { return end_.publish(); }

  // Whether this end found what cannot be, and has stopped working.
  [[nodiscard]] bool damaged() const noexcept { return end_.damaged(); }

 protected:
  template <class... Where>
  explicit PlaceProducer(const Ring& ring, Where&&... where) : ring_(ring), end_(where...) {}

  void make(std::uint64_t position, const Item& item) noexcept {
    std::construct_at(ring_.item(position), item);
  }

  const Ring ring_;
  End end_;

 private:
  Status push_here(const Item& item) noexcept {
    make(end_.position(), item);
    return end_.publish();
  }
  Status claimed(Status status, Item*& place) noexcept {
    place = status == Status::ok ? ring_.item(end_.position()) : nullptr;
    return status;
  }
};

template <class Ring, class End>
class PlaceConsumer {
 public:
  using Item = typename Ring::value_type;

  // ok, empty or closed (and drained).
  Status try_pop(Item& out) noexcept {
    const Status status = end_.try_find();
    return status == Status::ok ? pop_here(out) : status;
  }
  // Waits while there is none: ok, closed (and drained), timed_out or stopped.
  Status pop(Item& out, const Until& until = {}) {
    const Status status = end_.find(until);
    return status == Status::ok ? pop_here(out) : status;
  }

  // The first item, where it lies; again and again the same one until release(). ok, empty or
  // closed.
  Status try_peek(const Item*& item) noexcept { return peeked(end_.try_find(), item); }
  Status peek(const Item*& item, const Until& until = {}) { return peeked(end_.find(until), item); }
  // The item that was peeked is consumed; nothing if there is none.
  void release() noexcept { end_.release(); }

  // Whether this end found what cannot be, and has stopped working.
  [[nodiscard]] bool damaged() const noexcept { return end_.damaged(); }

 protected:
  template <class... Where>
  explicit PlaceConsumer(const Ring& ring, Where&&... where) : ring_(ring), end_(where...) {}

  const Ring ring_;
  End end_;

 private:
  friend struct RingWatching;

  [[nodiscard]] RingWatch watch() const noexcept { return end_.watch(); }
  // Read once: another process may write there.
  Status pop_here(Item& out) noexcept {
    out = *ring_.item(end_.position());
    end_.release();
    return Status::ok;
  }
  Status peeked(Status status, const Item*& item) noexcept {
    item = status == Status::ok ? ring_.item(end_.position()) : nullptr;
    return status;
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
