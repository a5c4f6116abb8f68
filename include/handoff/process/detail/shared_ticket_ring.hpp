// SPDX-License-Identifier: MIT
//
// A queue in shared memory from many producers to one consumer, and its ends, for items of a size
// that is known when it runs. SharedMpscRing and the C header put items into it. Not for users.
//
//   fixed: head, positions, bells | a word for each producer | places: a word, and the item behind
//
// Concurrency, order, blocking, deaths: SharedMpscRing says it. An end does not know its items:
// claim, then write from position() on, then publish; find, then read at position(), then release.
// Throws: as said. Allocates: never; a wait as Until does.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/bell_patience.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/process/detail/shared_tickets.hpp>
#include <handoff/sync/internal/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A value: where all of it lies.
class SharedTicketRing {
 public:
  // For each producer: whether one has the number.
  using Slot = sync::atomic<std::uint32_t>;

  // Items begin `place_bytes` apart, each behind a word; the shape has no capacity yet.
  static SharedRingShape shape(std::size_t place_bytes, std::size_t item_bytes,
                               std::size_t alignment) noexcept {
    return {.kind = SharedRingKind::many_producers,
            .fixed_bytes = sizeof(Fixed),
            .place_bytes = place_bytes,
            .item_bytes = item_bytes,
            .item_alignment = alignment,
            .producers = 1};
  }
  // Throw as SharedMpscRing's.
  static SharedTicketRing create(std::span<std::byte> bytes, const SharedRingShape& shape);
  static SharedTicketRing attach(std::span<std::byte> bytes, const SharedRingShape& wanted);

  [[nodiscard]] SharedTickets& tickets() noexcept { return tickets_; }
  [[nodiscard]] const SharedTickets& tickets() const noexcept { return tickets_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return tickets_.capacity(); }
  [[nodiscard]] std::size_t producers() const noexcept { return producers_; }
  [[nodiscard]] bool closed() const noexcept { return tickets_.words().items.closed(); }

  void close() noexcept { tickets_.close(); }
  std::size_t producer_died(std::size_t slot) noexcept;
  void consumer_died() noexcept;
  void recovered() noexcept;

  // The producer's number is this one's from now on, and free again.
  [[nodiscard]] bool take_slot(std::size_t slot) noexcept;
  void free_slot(std::size_t slot) noexcept;

 private:
  template <class>
  friend struct Books;

  struct Fixed {
    explicit Fixed(const SharedRingShape& shape) noexcept : head(shape) {}
    Slot* first_slot() noexcept { return reinterpret_cast<Slot*>(this + 1); }
    SharedRingHead head;
    SharedTicketWords words;
  };
  static constexpr std::uint32_t kAbsent = 0;
  static constexpr std::uint32_t kPresent = 1;

  SharedTicketRing(Fixed& fixed, std::byte* places, const SharedRingShape& shape) noexcept
      : tickets_(fixed.words, places, static_cast<std::size_t>(shape.place_bytes),
                 static_cast<std::size_t>(shape.capacity)),
        slots_(fixed.first_slot()),
        producers_(static_cast<std::size_t>(shape.producers)) {}

  SharedTickets tickets_;
  Slot* slots_;
  std::size_t producers_;
};

class SharedTicketProducer {
 public:
  // Throws std::system_error if there is no such slot, or it is taken.
  SharedTicketProducer(const SharedTicketRing& ring, std::size_t slot);
  // What is claimed is dropped.
  ~SharedTicketProducer();
  SharedTicketProducer(const SharedTicketProducer&) = delete;
  SharedTicketProducer& operator=(const SharedTicketProducer&) = delete;

  // Claims up to `most` places, or finds what is claimed: ok, full or closed.
  Status try_claim(std::uint64_t most = 1) noexcept {
    if (claim_.count != 0) return Status::ok;
    if (damaged_) return Status::closed;
    SharedClaim mine;
    const Status status = ring_.tickets().claim(slot_, most, mine, damaged_);
    if (status == Status::ok) claim_ = mine;
    return status;
  }
  Status claim(const Until& until) {
    const Status status = try_claim();
    return status != Status::full ? status : wait_for_room(until);
  }
  // How many are claimed, and from where on.
  [[nodiscard]] std::uint64_t count() const noexcept { return claim_.count; }
  [[nodiscard]] std::uint64_t position() const noexcept { return claim_.position; }
  // closed if nothing is claimed.
  Status publish() noexcept {
    if (claim_.count == 0) return Status::closed;
    ring_.tickets().publish(claim_);
    claim_.count = 0;
    return Status::ok;
  }
  void drop() noexcept;

  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

 private:
  Status wait_for_room(const Until& until);

  SharedTicketRing ring_;
  std::uint32_t slot_;
  SharedClaim claim_;
  BellPatience patience_;
  bool damaged_ = false;
};

class SharedTicketConsumer {
 public:
  explicit SharedTicketConsumer(const SharedTicketRing& ring) noexcept
      : tickets_(ring.tickets()), position_(tickets_.first()) {}
  SharedTicketConsumer(const SharedTicketConsumer&) = delete;
  SharedTicketConsumer& operator=(const SharedTicketConsumer&) = delete;

  // ok: the first item is at position(). empty or closed.
  Status try_find() noexcept {
    const Status status = damaged_ ? Status::closed : tickets_.find(position_, damaged_);
    is_found_ = status == Status::ok;
    return status;
  }
  Status find(const Until& until) {
    const Status status = try_find();
    return status != Status::empty ? status : wait_for_items(until);
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  // What was found is consumed; nothing if nothing was. To be told, once for several.
  void give_back() noexcept {
    if (!is_found_) return;
    is_found_ = false;
    tickets_.give_back(position_++);
  }
  void tell() noexcept { tickets_.tell_given_back(position_); }
  // Both.
  void release() noexcept {
    if (!is_found_) return;
    give_back();
    tell();
  }

  [[nodiscard]] bool damaged() const noexcept { return damaged_; }
  [[nodiscard]] RingWatch watch() const noexcept { return tickets_.watch(position_); }

 private:
  Status wait_for_items(const Until& until);

  SharedTickets tickets_;
  std::uint64_t position_;
  BellPatience patience_;
  bool is_found_ = false;
  bool damaged_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
