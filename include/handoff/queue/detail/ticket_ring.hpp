// SPDX-License-Identifier: MIT
//
// What MpscRing and MpmcRing have in common: their calls, and a ring whose places carry the number
// of the thread that may use them next. Users take one of those two, whose head comments say more.
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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/queue/detail/ring_item.hpp>
#include <handoff/queue/detail/ring_slots.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum class Consumers : std::uint8_t { one, many };

template <class T, Consumers kConsumers>
class TicketRing {
 public:
  using value_type = T;

  // At least `capacity` places, rounded up to a power of two. 0 is misuse; throws
  // std::length_error for more than there can be.
  explicit TicketRing(std::size_t capacity) : TicketRing(capacity, RingStart{}) {}
  TicketRing(const TicketRing&) = delete;
  TicketRing& operator=(const TicketRing&) = delete;

  std::size_t capacity() const noexcept { return slots_.capacity(); }

  // ok, full or closed. What is not ok leaves the item as it was.
  Status try_push(T&& item) noexcept { return try_emplace(std::move(item)); }
  template <ConvertsToItem<T> From>
  Status try_push(From&& item) noexcept(std::is_nothrow_constructible_v<T, From>) {
    return try_emplace(std::forward<From>(item));
  }
  Status try_push(const T& item) noexcept(std::is_nothrow_copy_constructible_v<T>)
    requires std::copy_constructible<T>
  {
    if constexpr (std::is_nothrow_copy_constructible_v<T>) {
      return try_emplace(item);
    } else {
      return try_emplace(T(item));  // may throw here, where nothing has been claimed
    }
  }

  // Makes the item in its place; makes nothing if there is none. One that cannot be made keeps its
  // place until a pop comes to it.
  template <class... Args>
  Status try_emplace(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    const Claim claim = claim_places(1);
    if (claim.count == 0) return is_closed(claim.first) ? Status::closed : Status::full;
    fill(claim.first, std::forward<Args>(args)...);
    return Status::ok;
  }

  // Moves in the first items, as many as have room in a row, and returns how many; the rest is
  // untouched. 0 once closed.
  std::size_t try_push_batch(std::span<T> items) noexcept {
    if (items.empty()) return 0;
    const Claim claim = claim_places(items.size());
    for (std::size_t i = 0; i < claim.count; ++i)
      fill(claim.first + kStep * i, std::move(items[i]));
    return claim.count;
  }

  // No push that begins after this succeeds; one that has claimed its place still does.
  void close() noexcept {
    // order: release pairs with the acquire in tail(): a thread that sees the ring closed also sees
    // what the closer did before. That no push follows needs no order: one word has one history.
    tail_.fetch_or(kClosed, sync::order::release);
  }

  // ok, empty or closed (and drained).
  Status try_pop(T& out) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
    const Claim claim = claim_items(1);
    if (claim.count == 0) return drained(claim.first) ? Status::closed : Status::empty;
    take(claim.first, out);
    return Status::ok;
  }

  // The item itself, if there is one now: for items that have no empty state to begin with.
  [[nodiscard]] std::optional<T> try_pop() noexcept {
    std::optional<T> item;
    consume([&](T& front) { item.emplace(std::move(front)); }, 1);
    return item;
  }

  // Moves out as many as there are and have room in `out`; returns how many.
  std::size_t try_pop_batch(std::span<T> out) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
    if (out.empty()) return 0;
    const Claim claim = claim_items(out.size());
    for (std::size_t i = 0; i < claim.count; ++i) take(claim.first + kStep * i, out[i]);
    return claim.count;
  }

  // Calls visitor(T&) on each item in its place, then destroys it; returns how many. At most
  // `most`, and never more than capacity(), so that it ends while producers go on. The visitor
  // may use the ring like anybody else.
  template <class Visitor>
    requires std::is_invocable_v<Visitor&, T&>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::size_t limit = detail::min(most, capacity());
    std::size_t count = 0;
    // One at a time: an item that was claimed but not visited could not be given back.
    for (; count < limit; ++count) {
      const Claim claim = claim_items(1);
      if (claim.count == 0) break;
      const ClaimedItem item(*this, claim.first);
      detail::call_and_drop(visitor, place(claim.first).item.write());
    }
    return count;
  }

  // Figures of the moment, with claimed places; exact at rest.
  std::size_t size() const noexcept {
    // order: relaxed, two numbers of about the same moment; clamped, since either may be older.
    const Ticket head = head_.load(sync::order::relaxed);
    const auto size = static_cast<std::int64_t>((tail() & ~kClosed) - head) / std::int64_t{kStep};
    return detail::min(static_cast<std::size_t>(size < 0 ? 0 : size), capacity());
  }

  bool empty() const noexcept { return size() == 0; }

  bool closed() const noexcept { return is_closed(tail()); }

  // How many places pops have passed over since the last call: for the caller that tells producers
  // of room.
  std::uint32_t take_passed_over() noexcept {
    if (passed_over_.load(sync::order::relaxed) == 0) return 0;  // order: relaxed, a hint
    // order: acquire pairs with the release in pass_over(): the places are free.
    return passed_over_.exchange(0, sync::order::acquire);
  }

 protected:
  TicketRing(std::size_t capacity, RingStart start)
      : slots_(capacity), tail_(kStep * start.position), head_(kStep * start.position) {
    for (std::size_t i = 0; i < slots_.capacity(); ++i) {
      const Ticket ticket = tail() + kStep * i;
      // order: relaxed, nobody else knows of this ring yet.
      place(ticket).state.store(ticket, sync::order::relaxed);
    }
  }

  ~TicketRing() {
    consume([](T&) {});
  }

 private:
  template <class>
  friend struct Books;

  using Ticket = std::uint64_t;
  static constexpr Ticket kStep = 4;  // from one ticket to the next
  static constexpr Ticket kHolds = 1;  // in a place's state
  static constexpr Ticket kFailed = 2;  // how far the state is below the ticket
  static constexpr Ticket kClosed = 1;  // in tail_

  struct Place {
    sync::atomic<Ticket> state{0};
    sync::raw_cell<T> item;
  };

  // Tickets in a row that nobody else has. If none, `first` is where the end stood.
  struct Claim {
    Ticket first;
    std::size_t count;
  };

  // An item while a visitor has it: gone afterwards, also by an exception.
  class ClaimedItem {
   public:
    ClaimedItem(TicketRing& ring, Ticket ticket) noexcept : ring_(ring), ticket_(ticket) {}
    ~ClaimedItem() { ring_.clear(ticket_); }
    ClaimedItem(const ClaimedItem&) = delete;
    ClaimedItem& operator=(const ClaimedItem&) = delete;

   private:
    TicketRing& ring_;
    const Ticket ticket_;
  };

  // From the state that an item would have.
  static constexpr std::int64_t kIsFailed = -std::int64_t{kFailed | kHolds};

  static constexpr bool is_closed(Ticket tail) noexcept { return (tail & kClosed) != 0; }

  Place& place(Ticket ticket) const noexcept { return slots_[ticket / kStep]; }

  Ticket tail() const noexcept {
    // order: acquire pairs with the release in close().
    return tail_.load(sync::order::acquire);
  }

  // How far the state of a ticket's place is from `ticket | mark`, which is what the owner of the
  // ticket needs: 0 there, below 0 not yet, above 0 the ticket has been used by somebody.
  std::int64_t distance(Ticket ticket, Ticket mark) const noexcept {
    // order: acquire pairs with the releases in fill() and free(): the item, or the bare place, is
    // there before the state says so.
    const Ticket state = place(ticket).state.load(sync::order::acquire);
    return static_cast<std::int64_t>(state - (ticket | mark));
  }

  // How many tickets from `first` on are ready for their owner, `most` at most. `behind`: the
  // distance of the one behind them, or 0.
  std::size_t ready(Ticket first, Ticket mark, std::size_t most,
                    std::int64_t& behind) const noexcept {
    std::size_t count = 0;
    while (count < most && (behind = distance(first + kStep * count, mark)) == 0) ++count;
    return count;
  }

  // Claims at the end where pushes come.
  Claim claim_places(std::size_t most) noexcept {
    // order: relaxed, the state of the place orders what follows.
    Ticket first = tail_.load(sync::order::relaxed);
    while (!is_closed(first)) {
      std::int64_t behind = 0;
      const std::size_t count = ready(first, 0, most, behind);
      if (count == 0) {
        if (behind < 0) return {first, 0};
        // order: relaxed. The state we saw was written after the claim of its ticket and read with
        // acquire, so this load cannot miss that claim.
        first = tail_.load(sync::order::relaxed);
        continue;
      }
      // order: relaxed, the states carry all order. A place that was ready stays so: only the owner
      // of its ticket may change it, and by this exchange that is us.
      if (tail_.compare_exchange_weak(first, first + kStep * count, sync::order::relaxed,
                                      sync::order::relaxed)) {
        return {first, count};
      }
    }
    return {first, 0};
  }

  // Claims at the end where pops come.
  Claim claim_items(std::size_t most) noexcept {
    // order: relaxed, as in claim_places().
    Ticket first = head_.load(sync::order::relaxed);
    while (true) {
      std::int64_t behind = 0;
      const std::size_t count = ready(first, kHolds, most, behind);
      if (count == 0 && behind == kIsFailed) [[unlikely]] {
        pass_over(first);
        first = head_.load(sync::order::relaxed);  // order: relaxed, as above
        continue;
      }
      if constexpr (kConsumers == Consumers::one) {
        // order: relaxed, only this thread writes it; size() may read it at any time.
        head_.store(first + kStep * count, sync::order::relaxed);
        return {first, count};
      } else {
        if (count == 0) {
          if (behind < 0) return {first, 0};
          // order: relaxed, as in claim_places().
          first = head_.load(sync::order::relaxed);
          continue;
        }
        // order: relaxed, as in claim_places().
        if (head_.compare_exchange_weak(first, first + kStep * count, sync::order::relaxed,
                                        sync::order::relaxed)) {
          return {first, count};
        }
      }
    }
  }

  // Claims a ticket whose item could not be made, if nobody else does, and frees its place.
  [[gnu::cold]] void pass_over(Ticket ticket) noexcept {
    if constexpr (kConsumers == Consumers::one) {
      head_.store(ticket + kStep, sync::order::relaxed);  // order: relaxed, as in claim_items()
    } else {
      Ticket expected = ticket;
      // order: relaxed, as in claim_items().
      if (!head_.compare_exchange_strong(expected, ticket + kStep, sync::order::relaxed,
                                         sync::order::relaxed)) {
        return;
      }
    }
    free(ticket);
    // order: release pairs with the acquire in take_passed_over().
    passed_over_.fetch_add(1, sync::order::release);
  }

  template <class... Args>
  void fill(Ticket ticket, Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    Place& mine = place(ticket);
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      mine.item.construct(std::forward<Args>(args)...);
    } else {
      call_or([&] { mine.item.construct(std::forward<Args>(args)...); },
              [&]() noexcept {
                // order: release pairs with the acquire in distance(): the place is bare.
                mine.state.store(ticket - kFailed, sync::order::release);
              });
    }
    // order: release pairs with the acquire in distance() of the pop.
    mine.state.store(ticket | kHolds, sync::order::release);
  }

  void take(Ticket ticket, T& out) noexcept {
    if constexpr (kReplacingCalls<T>) {
      T item(std::move(place(ticket).item.write()));
      clear(ticket);
      out = std::move(item);
    } else {
      out = std::move(place(ticket).item.write());
      clear(ticket);
    }
  }

  void clear(Ticket ticket) noexcept {
    place(ticket).item.destroy();
    free(ticket);
  }
  void free(Ticket ticket) noexcept {
    // order: release pairs with the acquire in distance() of the push one lap later.
    place(ticket).state.store(ticket + kStep * capacity(), sync::order::release);
  }

  // Whether no item will ever come at `head`, which was found without one. A closed tail has its
  // last value, so equality says that the ticket `head` was never given to a push.
  bool drained(Ticket head) const noexcept { return tail() == (head | kClosed); }

  RingSlots<Place> slots_;
  alignas(sync::destructive_span) sync::atomic<Ticket> tail_;  // of the next push, | kClosed
  alignas(sync::destructive_span) sync::atomic<Ticket> head_;  // of the next pop
  sync::atomic<std::uint32_t> passed_over_{0};
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
