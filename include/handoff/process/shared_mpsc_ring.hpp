// SPDX-License-Identifier: MIT
//
// A bounded queue in shared memory, from many processes to one.
//
//   // The process that makes the memory, and reads:
//   auto memory = handoff::SharedMemory::create(
//       {.bytes = SharedMpscRing<Report>::bytes_for(256, 8)});
//   auto ring = SharedMpscRing<Report>::create(memory.bytes(), 256, 8);
//   memory.publish();
//   SharedMpscRing<Report>::Consumer in(ring);
//   while (in.pop(report) == Status::ok) { ... }  // until closed and drained
//
//   // Worker 3, which was given the memory and its slot:
//   auto ring_here = SharedMpscRing<Report>::attach(memory.bytes());
//   SharedMpscRing<Report>::Producer out(ring_here, 3);
//   Status s = out.push(report);                  // waits while the ring is full
//
//   // What waits for the workers, once the kernel has said that worker 3 is dead:
//   ring.producer_died(3);                        // its slot is free for another one
//
// For: results and messages of workers that may be killed at any moment. Not for: threads of one
//   process (MpscRing); one producer (SharedRing is cheaper); readers that each see all
//   (SharedBroadcast).
// Items: as SharedRing's.
// Tier: transfer.
// Concurrency: a Producer for each slot at a time, and one Consumer, each by one thread at a time,
//   in whatever processes. SharedMpscRing itself is a value; close(), consumer_died() and looks are
//   thread-safe; producer_died() is called by one thread at a time.
// Order: places are used in the order of their claims; each producer's items come out in its order.
//   What was done before a push happens before its pop.
// Blocks: push, pop, claim and peek without try_: they spin for some microseconds where that can
//   help, then sleep, as long as their Until says. try_* are lock-free: they are repeated only
//   because another process succeeded.
// Allocates: never; a wait as Until does.
// Full: each place is claimed, or not given back yet: `full`. `empty`: the next item in turn is not
//   there yet, even if later ones are.
// Closed: any process may close(), again and again. No claim that begins after it succeeds; one
//   that came before may still be published, and is waited for. Pops drain, then return `closed`.
//   What push() or publish() said `ok` to is delivered, if anybody goes on popping.
// Death: a producer that dies between claim and publication holds up the items behind, until what
//   knows of it from the kernel (a pidfd) says producer_died(slot): then its place is passed over.
//   Never earlier: while it lives it may still write there. A consumer that dies is told by
//   consumer_died(): the ring is closed. To go on instead, make another Consumer, and say
//   recovered(): an item that was peeked and not released is there again. While nobody says
//   anything, waits end as their Until says.
// Trust: as in SharedRing. A producer with another's slot can spoil that one's items, no memory.
// Exceptions: create() std::length_error, std::invalid_argument; attach(), Producer and Consumer
//   SharedRingError. If a visitor throws, its item is consumed.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/process/detail/shared_tickets.hpp>
#include <handoff/sync/detail/atomic.hpp>

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

  // What the memory of a ring needs. Throws std::length_error for 0 and for more than there can be;
  // there can be 65536 producers.
  static std::size_t bytes_for(std::size_t capacity, std::size_t producers) {
    return detail::bytes_of(shape(capacity, producers));
  }

  // Makes a ring of at least `capacity` places, rounded up to a power of two, for the producers 0
  // to `producers` - 1. The memory begins at a multiple of 128 bytes and of alignof(T), and
  // outlives all that use it.
  static SharedMpscRing create(std::span<std::byte> bytes, std::size_t capacity,
                               std::size_t producers) {
    const detail::SharedRingShape made = shape(capacity, producers);
    detail::SharedRingHead::begin(bytes, made);
    auto* const fixed =
        ::new (static_cast<void*>(bytes.data() + detail::kSharedRingStart)) Fixed(made);
    for (std::size_t i = 0; i < producers; ++i) ::new (fixed->producers() + i) Slot(0);
    for (std::size_t i = 0; i < made.capacity; ++i) {
      ::new (static_cast<void*>(bytes.data() + made.offset() + i * sizeof(Place))) Place();
    }
    detail::SharedRingHead::publish(bytes);
    return SharedMpscRing(bytes, made);
  }
  // The ring that another process, or this one, has made there.
  static SharedMpscRing attach(std::span<std::byte> bytes) {
    return SharedMpscRing(bytes, detail::SharedRingHead::attached(bytes, kShape));
  }

  // Places: items that fit in.
  [[nodiscard]] std::size_t capacity() const noexcept { return tickets_.capacity(); }
  // How many producers there may be at a time: their numbers are below this.
  [[nodiscard]] std::size_t producers() const noexcept { return producers_; }

  // No push that begins after this succeeds. Wakes all.
  void close() noexcept { tickets_.close(); }
  [[nodiscard]] bool closed() const noexcept { return tickets_.words().items.closed(); }

  // To be said when the kernel has confirmed the death of the process that had this slot, and not
  // before. What it had claimed is passed over; how many places that was. The slot is free.
  std::size_t producer_died(std::size_t slot) noexcept {
    if (slot >= producers_) return 0;
    const std::size_t dropped = tickets_.bury(static_cast<std::uint32_t>(slot));
    // order: release pairs with the acquire in Producer(): see there.
    slots_[slot].store(kAbsent, sync::order::release);
    return dropped;
  }
  // The same of the consumer. Closes the ring.
  void consumer_died() noexcept {
    tickets_.close();
    recovered();
  }
  // Instead, once its successor is there: wakes what its predecessor left asleep.
  void recovered() noexcept {
    tickets_.words().items.disturb();
    tickets_.words().room.disturb();
  }

  // About how many items there were during the call, claimed places included.
  [[nodiscard]] std::size_t was_size() const noexcept { return tickets_.was_size(); }
  [[nodiscard]] bool was_empty() const noexcept { return was_size() == 0; }

 private:
  using Slot = sync::atomic<std::uint32_t>;
  static constexpr std::uint32_t kAbsent = 0;
  static constexpr std::uint32_t kPresent = 1;

  struct Place {
    Place() noexcept {}
    detail::SharedTickets::Word word{0};
    union {
      T item;
    };
  };
  struct Fixed {
    explicit Fixed(const detail::SharedRingShape& shape) noexcept : head(shape) {}
    Slot* producers() noexcept { return reinterpret_cast<Slot*>(this + 1); }
    detail::SharedRingHead head;
    detail::SharedTicketWords words;
  };
  static constexpr detail::SharedRingShape kShape{.kind = detail::SharedRingKind::many_producers,
                                                  .fixed_bytes = sizeof(Fixed),
                                                  .place_bytes = sizeof(Place),
                                                  .item_bytes = sizeof(T),
                                                  .item_alignment = alignof(Place),
                                                  .producers = 1};

  static detail::SharedRingShape shape(std::size_t capacity, std::size_t producers) {
    return detail::with_capacity(detail::with_producers(kShape, producers), capacity);
  }

  SharedMpscRing(std::span<std::byte> bytes, const detail::SharedRingShape& shape) noexcept
      : SharedMpscRing(
            *std::launder(reinterpret_cast<Fixed*>(bytes.data() + detail::kSharedRingStart)),
            bytes.data() + shape.offset(), shape) {}
  SharedMpscRing(Fixed& fixed, std::byte* places, const detail::SharedRingShape& shape) noexcept
      : tickets_(fixed.words, places, sizeof(Place), static_cast<std::size_t>(shape.capacity)),
        slots_(fixed.producers()),
        producers_(static_cast<std::size_t>(shape.producers)) {}

  T* item(std::uint64_t position) const noexcept {
    return &reinterpret_cast<Place*>(tickets_.place(position))->item;
  }

  detail::SharedTickets tickets_;
  Slot* slots_;
  std::size_t producers_;
};

// One that pushes, under its slot.
template <class T>
class SharedMpscRing<T>::Producer {
 public:
  // Throws SharedRingError if there is no such slot, or a producer has it: one that lives, or one
  // of whose death nobody has said producer_died().
  Producer(SharedMpscRing ring, std::size_t slot)
      : ring_(ring), slot_(static_cast<std::uint32_t>(slot)) {
    std::uint32_t before = kAbsent;
    // order: acquire pairs with the release in producer_died(): the search for the dead one's
    // claims does not come upon this one's.
    if (slot >= ring_.producers_ ||
        !ring_.slots_[slot].compare_exchange_strong(before, kPresent, sync::order::acquire,
                                                    sync::order::relaxed)) {
      raise(SharedRingError("a producer's slot that is taken or does not exist"));
    }
  }
  ~Producer() {
    drop();
    // order: relaxed, it has no claims any more.
    ring_.slots_[slot_].store(kAbsent, sync::order::relaxed);
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // ok, full or closed.
  Status try_push(const T& item) noexcept {
    T* place = nullptr;
    const Status status = try_claim(place);
    return status == Status::ok ? push_at(place, item) : status;
  }
  // Waits while the ring is full: ok, closed, timed_out or stopped.
  Status push(const T& item, const Until& until = {}) {
    T* place = nullptr;
    const Status status = claim(place, until);
    return status == Status::ok ? push_at(place, item) : status;
  }

  // The next place, to be written in any way and then published; the same one again until then.
  // Items that are pushed after it wait for it. ok, full or closed.
  Status try_claim(T*& place) noexcept {
    Status status = is_claimed_ ? Status::ok : Status::closed;
    if (!is_claimed_ && !damaged_) status = ring_.tickets_.claim(slot_, position_, damaged_);
    is_claimed_ = status == Status::ok;
    place = is_claimed_ ? ring_.item(position_) : nullptr;
    return status;
  }
  Status claim(T*& place, const Until& until = {}) {
    Status status = try_claim(place);
    if (status != Status::full) return status;
    const Status waited = ring_.tickets_.words().room.await(
        [&] { return (status = try_claim(place)) != Status::full; }, until,
        detail::BellSleepers::many);
    return waited == Status::ok ? status : waited;
  }
  // What was claimed is an item now. ok; closed if nothing is claimed.
  Status publish() noexcept {
    if (!is_claimed_) return Status::closed;
    is_claimed_ = false;
    ring_.tickets_.publish(position_);
    return Status::ok;
  }
  // What was claimed will be no item; nothing if nothing is claimed.
  void drop() noexcept {
    if (!is_claimed_) return;
    is_claimed_ = false;
    ring_.tickets_.drop(position_);
  }

  // Whether this end found what cannot be, and has stopped working.
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

 private:
  Status push_at(T* place, const T& item) noexcept {
    std::construct_at(place, item);
    return publish();
  }

  SharedMpscRing ring_;
  std::uint32_t slot_;
  std::uint64_t position_ = 0;
  bool is_claimed_ = false;
  bool damaged_ = false;
};

// The end that pops. A successor goes on where the dead one came to.
template <class T>
class SharedMpscRing<T>::Consumer {
 public:
  explicit Consumer(SharedMpscRing ring) : ring_(ring), position_(ring_.tickets_.first()) {}
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // ok, empty or closed (and drained).
  Status try_pop(T& out) noexcept {
    const T* item = nullptr;
    const Status status = try_peek(item);
    return status == Status::ok ? pop_from(item, out) : status;
  }
  // Waits while there is none: ok, closed (and drained), timed_out or stopped.
  Status pop(T& out, const Until& until = {}) {
    const T* item = nullptr;
    const Status status = peek(item, until);
    return status == Status::ok ? pop_from(item, out) : status;
  }

  // The first item, where it lies; again and again the same one until release(). ok, empty or
  // closed.
  Status try_peek(const T*& item) noexcept {
    const Status status = damaged_ ? Status::closed : ring_.tickets_.find(position_, damaged_);
    is_peeked_ = status == Status::ok;
    item = is_peeked_ ? ring_.item(position_) : nullptr;
    return status;
  }
  Status peek(const T*& item, const Until& until = {}) {
    Status status = try_peek(item);
    if (status != Status::empty) return status;
    const Status waited = ring_.tickets_.words().items.await(
        [&] { return (status = try_peek(item)) != Status::empty; }, until,
        detail::BellSleepers::one);
    return waited == Status::ok ? status : waited;
  }
  // The item that was peeked is consumed; nothing if there is none.
  void release() noexcept {
    if (!is_peeked_) return;
    is_peeked_ = false;
    ring_.tickets_.release(position_++);
  }

  // Calls visitor(const T&) on each item in its place; returns how many. At most `most`, and no
  // more than capacity(), so that it ends while producers go on. The visitor must not take from
  // this ring.
  template <class Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    struct Release {  // also when the visitor throws
      ~Release() { consumer.release(); }
      Consumer& consumer;
    };
    const std::size_t limit = detail::min(most, ring_.capacity());
    std::size_t count = 0;
    for (const T* item = nullptr; count < limit && try_peek(item) == Status::ok; ++count) {
      const Release release{*this};
      visitor(*item);
    }
    return count;
  }

  // Whether this end found what cannot be, and has stopped working.
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

 private:
  friend struct detail::RingWatching;

  [[nodiscard]] detail::RingWatch watch() const noexcept { return ring_.tickets_.watch(position_); }
  Status pop_from(const T* item, T& out) noexcept {
    out = *item;
    release();
    return Status::ok;
  }

  SharedMpscRing ring_;
  std::uint64_t position_;
  bool is_peeked_ = false;
  bool damaged_ = false;
};

}}  // namespace handoff::HANDOFF_ABI
