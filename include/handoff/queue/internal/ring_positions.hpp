// SPDX-License-Identifier: MIT
//
// The protocol of positions: from one producer to one consumer. Its words, with all their orders,
// are those of every ring in which one end is alone; PositionPlaces is the whole of it for the
// threads of one process. Not for users.
//
// Each end has a position, which it alone writes: `tail` is where the producer writes next, `head`
// where the consumer reads next. From its own position up to a limit the places are its to use:
//
//   consumer   head .. tail              they hold items
//   producer   tail .. head + capacity   they are bare
//
// An end remembers its limit, and looks at the other one's position only if what it remembers is
// not enough: a stream costs a look at the other's cache line per ring full or per batch. Positions
// grow for ever and run over at 2^64. The proof, RI-1, is in docs/design/rings.md. The ends of
// rings in shared memory (process/detail/shared_ends.hpp) take the same steps, and check what they
// see.
// Source: L. Lamport, "Specifying Concurrent Program Modules" (1983); the limit that is remembered
// is E. Rigtorp's, https://rigtorp.se/ringbuffer/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The position of one end.
class RingPosition {
 public:
  explicit RingPosition(std::uint64_t start) noexcept : value_(start) {}

  // By its end; by others as a number that may be old.
  [[nodiscard]] std::uint64_t own() const noexcept {
    // order: relaxed, only this end writes it; what a predecessor did is known by other means.
    return value_.load(sync::order::relaxed);
  }
  void move_to(std::uint64_t position) noexcept {
    // order: release pairs with the acquire in seen(): what lies before is made, or bare.
    value_.store(position, sync::order::release);
  }
  // By the other end.
  [[nodiscard]] std::uint64_t seen() const noexcept {
    // order: acquire pairs with the release in move_to().
    return value_.load(sync::order::acquire);
  }
  // How many items lie between, `most` at most; by any thread. The acquire keeps the two loads in
  // this order: the tail is not older than the head, so the difference is not negative.
  static std::uint64_t between(const RingPosition& head, const RingPosition& tail,
                               std::uint64_t most) noexcept {
    const std::uint64_t first = head.seen();
    return detail::min(tail.own() - first, most);
  }

  // For what watches it from outside.
  [[nodiscard]] const sync::atomic<std::uint64_t>& word() const noexcept { return value_; }

 private:
  sync::atomic<std::uint64_t> value_;
};

// Whether a ring is closed, where a word of its own says so.
class RingClosed {
 public:
  // By one that pushes, or keeps others from it.
  void close() noexcept {
    // order: release pairs with the acquire in is_seen(): all pushes, and what else came before.
    closed_.store(true, sync::order::release);
  }
  [[nodiscard]] bool is_said() const noexcept {
    return closed_.load(sync::order::relaxed);  // order: relaxed, see close(): said by this end
  }
  // By others.
  [[nodiscard]] bool is_seen() const noexcept {
    return closed_.load(sync::order::acquire);  // order: acquire pairs with the release in close()
  }

 private:
  sync::atomic<bool> closed_{false};
};

template <class T>
class PositionPlaces {
 public:
  // Positions in a row that are this end's. None of them: `is_closed` says why.
  struct Claim {
    std::uint64_t first;
    std::size_t count;
    bool is_closed = false;
    std::uint64_t operator[](std::size_t i) const noexcept { return first + i; }
  };
  static constexpr bool kAllocates = false;
  // An item that cannot be made leaves all as it was.
  static constexpr bool kMayFail = true;

  PositionPlaces(std::size_t capacity, RingStart start)
      : slots_(capacity),
        producer_(start.position, start.position + slots_.capacity()),
        consumer_(start.position, start.position) {}

  std::size_t capacity() const noexcept { return slots_.capacity(); }
  T& item(std::uint64_t position) const noexcept { return slots_[position].write(); }

  // --- The producer. ---

  Claim claim_places(std::size_t most) noexcept {
    if (closed_.is_said()) return {0, 0, true};
    return producer_.claim(most, consumer_, capacity());
  }
  static Status refused(const Claim& claim) noexcept {
    return claim.is_closed ? Status::closed : Status::full;
  }
  template <class... Args>
  void fill(std::uint64_t position, Args&&... args) {
    slots_[position].construct(std::forward<Args>(args)...);
  }
  void filled(const Claim& claim) noexcept { producer_.pass(claim); }
  void close() noexcept { closed_.close(); }

  // --- The consumer. ---

  Claim claim_items(std::size_t most) noexcept { return consumer_.claim(most, producer_, 0); }
  // Where a claim has found nothing: empty or closed. Or ok: pushes came before the close, so the
  // second look is the last that is needed, and it has found one.
  Status found_none(Claim& claim) noexcept {
    if (!closed_.is_seen()) return Status::empty;
    claim = claim_items(1);
    return claim.count == 0 ? Status::closed : Status::ok;
  }
  void bare(std::uint64_t position) noexcept { slots_[position].destroy(); }
  void bared(const Claim& claim) noexcept { consumer_.pass(claim); }
  // Those that were there at the call.
  template <class Visit>
  std::size_t visit(std::size_t most, const Visit& visit) {
    const Claim claim = claim_items(most);
    for (std::size_t i = 0; i < claim.count; ++i) {
      const VisitedItem<PositionPlaces> item(*this, {claim[i], 1});
      visit(item.value());
    }
    return claim.count;
  }

  // --- By any thread. ---

  std::size_t size() const noexcept {
    return static_cast<std::size_t>(
        RingPosition::between(consumer_.position, producer_.position, capacity()));
  }
  bool closed() const noexcept { return closed_.is_seen(); }

 private:
  template <class>
  friend struct Books;

  struct End {
    End(std::uint64_t start, std::uint64_t first_limit) noexcept
        : position(start), limit(first_limit) {}

    // What it may use, `most` at most. The other end's position and `ahead` make the limit.
    Claim claim(std::size_t most, const End& other, std::size_t ahead) noexcept {
      const std::uint64_t first = position.own();
      // equivalent(bound): one look more at the other end
      if (limit - first < most) limit = other.position.seen() + ahead;
      return {first, detail::min(most, static_cast<std::size_t>(limit - first))};
    }
    void pass(const Claim& claim) noexcept { position.move_to(claim.first + claim.count); }

    RingPosition position;
    std::uint64_t limit;  // what the other end allows, or less
  };

  RingSlots<sync::raw_cell<T>> slots_;
  RingClosed closed_;  // in the line that both ends keep: a look at an empty ring asks for it
  alignas(sync::destructive_span) End producer_;
  alignas(sync::destructive_span) End consumer_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
