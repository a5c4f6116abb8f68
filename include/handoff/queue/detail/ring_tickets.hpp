// SPDX-License-Identifier: MIT
//
// The protocol of tickets: from many producers to one consumer or to many. Each place carries the
// number of the thread that may use it next. The calls are in ring.hpp. Not for users.
//
// A push or a pop first claims a ticket, then works on that ticket's place undisturbed, then hands
// the place on by writing its state. Tickets are multiples of four, so that the state of a place
// has room for what it waits for:
//
//   state == ticket             free: the push with this ticket may make its item here
//   state == ticket | kHolds    holds the item of this ticket: its pop may take it
//   state == ticket - kFailed   no item: it could not be made, and is passed over
//   state == ticket + one lap   free again, for the push one lap later
//
// which differ even with a single place. The end where tickets are given to pushes carries kClosed
// in its lowest bit: claiming is a compare-and-swap on the whole word, so none succeeds after
// close(). The proof is in docs/design/rings.md.
// Source: D. Vyukov's bounded queue,
// https://www.1024cores.net/home/lock-free-algorithms/queues/bounded-mpmc-queue; the close bit,
// batches and states that fit any capacity are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
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

enum class Consumers : std::uint8_t { one, many };

template <class T, Consumers kConsumers>
class TicketPlaces {
  using Ticket = std::uint64_t;
  static constexpr Ticket kStep = 4;  // from one ticket to the next
  static constexpr Ticket kHolds = 1;  // in a place's state
  static constexpr Ticket kFailed = 2;  // how far the state is below the ticket
  static constexpr Ticket kClosed = 1;  // in tail_
  static constexpr bool kPopsAlone = kConsumers == Consumers::one;

 public:
  // Tickets in a row that nobody else has. If none, `first` is where the end stood.
  struct Claim {
    Ticket first;
    std::size_t count;
    Ticket operator[](std::size_t i) const noexcept { return first + kStep * i; }
  };
  static constexpr bool kAllocates = false;
  // An item that cannot be made keeps its place until a pop comes to it.
  static constexpr bool kMayFail = false;

  TicketPlaces(std::size_t capacity, RingStart start)
      : slots_(capacity), tail_(kStep * start.position), head_(kStep * start.position) {
    const Claim all{head_.look(), slots_.capacity()};
    for (std::size_t i = 0; i < all.count; ++i) hand_on(all[i], all[i]);
  }

  std::size_t capacity() const noexcept { return slots_.capacity(); }
  T& item(Ticket ticket) const noexcept { return place(ticket).item.write(); }

  // --- Pushes. ---

  Claim claim_places(std::size_t most) noexcept { return claim<0>(tail_, most); }
  static Status refused(const Claim& claim) noexcept {
    return is_closed(claim.first) ? Status::closed : Status::full;
  }
  template <class... Args>
  void fill(Ticket ticket, Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    const auto make = [&] { place(ticket).item.construct(std::forward<Args>(args)...); };
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      make();
    } else {
      call_or(make, [&]() noexcept { hand_on(ticket, ticket - kFailed); });
    }
    hand_on(ticket, ticket | kHolds);
  }
  void filled(const Claim&) noexcept {}
  // A push that has claimed its place still succeeds.
  void close() noexcept { tail_.close(); }

  // --- Pops. ---

  Claim claim_items(std::size_t most) noexcept { return claim<kHolds>(head_, most); }
  // A closed tail has its last value, so equality says that the ticket was never given to a push.
  Status found_none(const Claim& claim) const noexcept {
    return tail_.seen() == (claim.first | kClosed) ? Status::closed : Status::empty;
  }
  void bare(Ticket ticket) noexcept {
    place(ticket).item.destroy();
    free(ticket);
  }
  void bared(const Claim&) noexcept {}
  // One at a time: an item that was claimed but not visited could not be given back.
  template <class Visit>
  std::size_t visit(std::size_t most, const Visit& visit) {
    const std::size_t limit = detail::min(most, capacity());
    std::size_t count = 0;
    for (; count < limit; ++count) {
      const Claim claim = claim_items(1);
      if (claim.count == 0) break;
      const VisitedItem<TicketPlaces> item(*this, claim);
      visit(item.value());
    }
    return count;
  }

  // --- By any thread. ---

  // Two numbers of about the same moment; clamped, since either may be older.
  std::size_t size() const noexcept {
    const Ticket head = head_.look();
    const auto size =
        static_cast<std::int64_t>((tail_.seen() & ~kClosed) - head) / std::int64_t{kStep};
    return detail::min(static_cast<std::size_t>(size < 0 ? 0 : size), capacity());
  }
  bool closed() const noexcept { return is_closed(tail_.seen()); }

  std::uint32_t take_passed_over() noexcept {
    if (passed_over_.load(sync::order::relaxed) == 0) return 0;  // order: relaxed, a hint
    // order: acquire pairs with the release in pass_over(): the places are free.
    return passed_over_.exchange(0, sync::order::acquire);
  }

 private:
  template <class>
  friend struct Books;

  struct Place {
    sync::atomic<Ticket> state{0};
    sync::raw_cell<T> item;
  };

  // Where one end stands. Relaxed throughout: the states carry all order.
  struct End {
    explicit End(Ticket start) noexcept : next(start) {}

    Ticket look() const noexcept {
      // order: relaxed. A state that was read with acquire was written after the claim of its
      // ticket, so a look behind it cannot miss that claim.
      return next.load(sync::order::relaxed);
    }
    // If `first` is not the next one any more, it is then. `alone`: nobody else takes any.
    bool take(Ticket& first, Ticket behind, bool alone) noexcept {
      if (alone) {
        next.store(behind, sync::order::relaxed);  // order: relaxed, size() reads it at any time
        return true;
      }
      // order: relaxed. A place that was ready stays so: only the owner of its ticket may change
      // it, and by this exchange that is us.
      return next.compare_exchange_weak(first, behind, sync::order::relaxed, sync::order::relaxed);
    }
    void close() noexcept {
      // order: release pairs with the acquire in seen(): what the closer did before. That no push
      // follows needs no order: one word has one history.
      next.fetch_or(kClosed, sync::order::release);
    }
    Ticket seen() const noexcept {
      return next.load(sync::order::acquire);  // order: acquire pairs with the release in close()
    }

    sync::atomic<Ticket> next;  // | kClosed
  };

  // From the state that an item would have.
  static constexpr std::int64_t kIsFailed = -std::int64_t{kFailed | kHolds};

  static constexpr bool is_closed(Ticket tail) noexcept { return (tail & kClosed) != 0; }

  Place& place(Ticket ticket) const noexcept { return slots_[ticket / kStep]; }

  // How far the state of a ticket's place is from `ticket | mark`, which is what the owner of the
  // ticket needs: 0 there, below 0 not yet, above 0 the ticket has been used by somebody.
  std::int64_t distance(Ticket ticket, Ticket mark) const noexcept {
    // order: acquire pairs with the release in hand_on().
    const Ticket state = place(ticket).state.load(sync::order::acquire);
    return static_cast<std::int64_t>(state - (ticket | mark));
  }
  void hand_on(Ticket ticket, Ticket state) noexcept {
    // order: release pairs with the acquire in distance(): the item, or the bare place, is there
    // before the state says so.
    place(ticket).state.store(state, sync::order::release);
  }
  void free(Ticket ticket) noexcept { hand_on(ticket, ticket + kStep * capacity()); }

  // How many tickets from `first` on are ready for their owner, `most` at most. `behind`: the
  // distance of the one behind them, or 0.
  std::size_t ready(Ticket first, Ticket mark, std::size_t most,
                    std::int64_t& behind) const noexcept {
    std::size_t count = 0;
    while (count < most && (behind = distance(first + kStep * count, mark)) == 0) ++count;
    return count;
  }

  // Claims tickets in whose places stands `kMark`.
  template <Ticket kMark>
  Claim claim(End& end, std::size_t most) noexcept {
    Ticket first = end.look();
    while (kMark != 0 || !is_closed(first)) {
      std::int64_t behind = 0;
      const std::size_t count = ready(first, kMark, most, behind);
      if (count != 0) {
        if (end.take(first, first + kStep * count, kMark == kHolds && kPopsAlone)) {
          return {first, count};
        }
        continue;
      }
      if (kMark == kHolds && behind == kIsFailed) [[unlikely]]
        pass_over(first);
      else if (behind < 0) return {first, 0};
      first = end.look();
    }
    return {first, 0};
  }

  // Claims a ticket whose item could not be made, if nobody else does, and frees its place.
  [[gnu::cold]] void pass_over(Ticket ticket) noexcept {
    Ticket expected = ticket;
    if (!head_.take(expected, ticket + kStep, kPopsAlone)) return;
    free(ticket);
    // order: release pairs with the acquire in take_passed_over().
    passed_over_.fetch_add(1, sync::order::release);
  }

  RingSlots<Place> slots_;
  alignas(sync::destructive_span) End tail_;  // of the next push
  alignas(sync::destructive_span) End head_;  // of the next pop
  sync::atomic<std::uint32_t> passed_over_{0};
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
