// SPDX-License-Identifier: MIT
//
// A bounded queue in shared memory, from many processes to one.
//
//   auto memory = handoff::SharedMemory::create(
//       {.bytes = SharedMpscRing<Report>::bytes_for(256, 8)});
//   auto ring = SharedMpscRing<Report>::create(memory.bytes(), 256, 8);
//   memory.publish();
//   SharedMpscRing<Report>::Consumer in(ring);
//   while (in.pop(report) == Status::ok) { ... }  // until closed and drained
//   ring.producer_died(3);                        // once the kernel has said that worker 3 is dead
//   // Worker 3, which was given the memory and its slot:
//   SharedMpscRing<Report>::Producer out(SharedMpscRing<Report>::attach(memory.bytes()), 3);
//   Status s = out.push(report);                  // waits while the ring is full
//
// For: results and messages of workers that may be killed at any moment. Not for: threads of one
// process (MpscRing); one producer (SharedRing is cheaper); readers that each see all
// (SharedBroadcast).
//
// Contract: transfer tier. Items, trust, and how a call waits: as in shared_ring.hpp.
// - Concurrency: each slot has one Producer at a time, and the ring one Consumer; one thread at a
//   time uses each, in any process. SharedMpscRing is a value; close(), consumer_died() and looks
//   are thread-safe; one thread at a time calls producer_died(). A producer with another's slot can
//   spoil that one's items, and no other memory.
// - Order: items come out in the order of their claims, each producer's in its own order. Up to 256
//   items of a batch, and up to where the room ended, come out one behind another and are there at
//   the same time. What was done before a push happens before its pop.
// - Blocks: push, pop, claim and peek, as long as their Until says. try_* are lock-free.
// - Full: each place is claimed, or is not given back yet. Empty: the next item in turn is not
//   there yet, even if later ones are.
// - Closed: any process may close(), again and again. A claim that came before may still be
//   published, and pops wait for it. What said `ok` is delivered, if anybody goes on popping.
// - Death: a producer that dies between claim and publication holds up the items behind, until
//   producer_died(slot) passes over what it had claimed. Call that only after the kernel has
//   reported the death (a pidfd): a process that lives may still write there. consumer_died(), and
//   how a successor goes on: as in shared_ring.hpp.
// - Exceptions: create() throws std::length_error, std::invalid_argument; attach(), Producer and
//   Consumer throw std::system_error. If a visitor throws, its item is consumed.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/process/detail/shared_places.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/process/detail/shared_ticket_ring.hpp>
#include <handoff/process/detail/shared_tickets.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class SharedMpscRing {
  static_assert(std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T>,
                "what lies in shared memory is copied as bytes: no references, and no types with "
                "constructors of copies of their own");

 public:
  using value_type = T;
  class Producer;
  class Consumer;

  // What the memory of a ring needs, up to where another may begin. 0 of either is misuse. Throws
  // std::length_error for more than there can be; there can be 65536 producers.
  static std::size_t bytes_for(std::size_t capacity, std::size_t producers) {
    return detail::bytes_of(shape(capacity, producers));
  }

  // Makes a ring of at least `capacity` places, rounded up to a power of two, for the producers 0
  // to `producers` - 1. The memory begins at a multiple of 128 bytes and of alignof(T), and
  // outlives all that use it.
  static SharedMpscRing create(std::span<std::byte> bytes, std::size_t capacity,
                               std::size_t producers) {
    return SharedMpscRing(detail::SharedTicketRing::create(bytes, shape(capacity, producers)));
  }
  // The ring that another process, or this one, has made there.
  static SharedMpscRing attach(std::span<std::byte> bytes) {
    return SharedMpscRing(detail::SharedTicketRing::attach(bytes, shape()));
  }

  // Places: items that fit in.
  [[nodiscard]] std::size_t capacity() const noexcept { return ring_.capacity(); }
  // How many producers there may be at a time: their numbers are below this.
  [[nodiscard]] std::size_t producers() const noexcept { return ring_.producers(); }

  // No push that begins after this succeeds. Wakes all.
  void close() noexcept { ring_.close(); }
  [[nodiscard]] bool closed() const noexcept { return ring_.closed(); }

  // To be said when the kernel has confirmed the death of the process that had this slot, and not
  // before. What it had claimed is passed over; how many places that was. The slot is free.
  std::size_t producer_died(std::size_t slot) noexcept { return ring_.producer_died(slot); }
  // The same of the consumer. Closes the ring.
  void consumer_died() noexcept { ring_.consumer_died(); }
  // Instead, once its successor is there: wakes what its predecessor left asleep.
  void recovered() noexcept { ring_.recovered(); }

  // About how many items there were during the call, claimed places included.
  [[nodiscard]] std::size_t size() const noexcept { return ring_.tickets().size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
  template <class>
  friend struct detail::Books;
  template <class, class>
  friend class detail::PlaceProducer;
  template <class, class>
  friend class detail::PlaceConsumer;

  struct Place {
    detail::SharedTickets::Word word;
    union {
      T item;
    };
  };

  explicit SharedMpscRing(const detail::SharedTicketRing& ring) noexcept : ring_(ring) {}

  static detail::SharedRingShape shape() noexcept {
    return detail::SharedTicketRing::shape(sizeof(Place), sizeof(T), alignof(Place));
  }
  static detail::SharedRingShape shape(std::size_t capacity, std::size_t producers) {
    return detail::with_capacity(detail::with_producers(shape(), producers), capacity);
  }

  T* item(std::uint64_t position) const noexcept {
    return &reinterpret_cast<Place*>(ring_.tickets().place(position))->item;
  }

  detail::SharedTicketRing ring_;
};

// One that pushes, under its slot.
template <class T>
class SharedMpscRing<T>::Producer
    : public detail::PlaceProducer<SharedMpscRing, detail::SharedTicketProducer> {
 public:
  // Throws std::system_error if there is no such slot, or a producer has it: one that lives, or one
  // of whose death nobody has said producer_died().
  Producer(SharedMpscRing ring, std::size_t slot)
      : Producer::PlaceProducer(ring, ring.ring_, slot) {}

  // The first items, as many as have room; how many. 0 once closed. If the process dies meanwhile,
  // those of whole claims (see Order) are there, of the last one none or all.
  std::size_t try_push_batch(std::span<const T> items) noexcept {
    auto& end = this->end_;
    std::size_t pushed = 0;
    while (pushed < items.size() && end.try_claim(items.size() - pushed) == Status::ok) {
      const auto count = static_cast<std::size_t>(end.count());
      for (std::size_t i = 0; i < count; ++i) this->make(end.position() + i, items[pushed + i]);
      pushed += count;
      (void)end.publish();
    }
    return pushed;
  }

  // What was claimed will be no item; nothing if nothing is claimed. Items that are pushed behind a
  // claim wait until it is published or dropped.
  void drop() noexcept { this->end_.drop(); }
};

// The end that pops. A successor goes on where the dead one came to.
template <class T>
class SharedMpscRing<T>::Consumer
    : public detail::PlaceConsumer<SharedMpscRing, detail::SharedTicketConsumer> {
 public:
  explicit Consumer(SharedMpscRing ring) : Consumer::PlaceConsumer(ring, ring.ring_) {}

  // As many as there are and have room in `out`; how many.
  std::size_t try_pop_batch(std::span<T> out) noexcept {
    auto& end = this->end_;
    std::size_t count = 0;
    for (; count < out.size() && end.try_find() == Status::ok; ++count) {
      out[count] = *this->ring_.item(end.position());
      end.give_back();
    }
    if (count != 0) end.tell();
    return count;
  }

  // Calls visitor(const T&) on each item in its place; returns how many. At most `most`, and no
  // more than capacity(), so that it ends while producers go on. The visitor must not take from
  // this ring.
  template <class Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    struct Release {  // also when the visitor throws
      ~Release() { end.release(); }
      detail::SharedTicketConsumer& end;
    };
    auto& end = this->end_;
    const std::size_t limit = detail::min(most, this->ring_.capacity());
    std::size_t count = 0;
    for (; count < limit && end.try_find() == Status::ok; ++count) {
      const Release release{end};
      const T& item = *this->ring_.item(end.position());
      detail::call_and_drop(visitor, item);
    }
    return count;
  }
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
