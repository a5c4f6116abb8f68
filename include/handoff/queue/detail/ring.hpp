// SPDX-License-Identifier: MIT
//
// The calls of a queue: what SpscRing, MpscRing, MpmcRing and SegmentQueue do with items. Users
// take one of those, whose head comments say more.
//
// How a place is claimed and handed on is the protocol's, `Places`: PositionPlaces
// (ring_positions.hpp) for one on each side, TicketPlaces (ring_tickets.hpp) for many,
// SegmentPlaces (ring_segments.hpp) for many without a bound. A push and a pop are read whole here
// and there:
//
//   push   claim_places(most)   places in a row that are this thread's; none: refused() says why
//          fill(position)       makes the item there
//          filled(claim)        all of them are items now
//   pop    claim_items(most)    items in a row that are this thread's; none: found_none()
//          bare(position)       the item is taken: ends it
//          bared(claim)         all of them are free now
//
// The positions of a claim are used in their order. Where a place says for itself what is in it,
// fill() and bare() hand it on at once, and filled() and bared() do nothing. The proofs are in
// docs/design/rings.md.
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
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/queue/internal/ring_item.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T, class Places>
class BasicRing {
  static_assert(HeldByValue<T>,
                "a ring holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a ring's item must move without throwing: mark its move constructor noexcept, or "
                "hold a std::unique_ptr to it");

  static constexpr bool kBounded = requires(const Places& places) { places.capacity(); };
  // Whether a push of what is made of Args throws nothing.
  template <class... Args>
  static constexpr bool kQuiet = !Places::kAllocates && std::is_nothrow_constructible_v<T, Args...>;

 public:
  using value_type = T;

  // At least `capacity` places, rounded up to a power of two. 0 is misuse; throws
  // std::length_error for more than there can be.
  explicit BasicRing(std::size_t capacity)
    requires kBounded
      : BasicRing(capacity, RingStart{}) {}
  // Without a bound. Throws std::bad_alloc.
  BasicRing()
    requires(!kBounded)
  = default;
  ~BasicRing() {
    consume([](T&) {});
  }
  BasicRing(const BasicRing&) = delete;
  BasicRing& operator=(const BasicRing&) = delete;

  // How many items have room.
  std::size_t capacity() const noexcept
    requires kBounded
  {
    return places_.capacity();
  }

  // ok, full or closed. What is not ok leaves the item as it was.
  Status try_push(T&& item) noexcept(kQuiet<T>) { return try_emplace(std::move(item)); }
  template <ConvertsToItem<T> From>
  Status try_push(From&& item) noexcept(kQuiet<From>) {
    return try_emplace(std::forward<From>(item));
  }
  Status try_push(const T& item) noexcept(kQuiet<const T&>)
    requires std::copy_constructible<T>
  {
    if constexpr (std::is_nothrow_copy_constructible_v<T> || Places::kMayFail) {
      return try_emplace(item);
    } else {
      return try_emplace(T(item));  // may throw here, where nothing has been claimed
    }
  }

  // Makes the item in its place; makes nothing if there is none.
  template <class... Args>
  Status try_emplace(Args&&... args) noexcept(kQuiet<Args...>) {
    const auto claim = places_.claim_places(1);
    if (claim.count == 0) return Places::refused(claim);
    places_.fill(claim.first, std::forward<Args>(args)...);
    places_.filled(claim);
    return Status::ok;
  }

  // Moves in the first items, as many as have room in a row, and returns how many; the rest is
  // untouched. 0 once closed.
  std::size_t try_push_batch(std::span<T> items) noexcept(kQuiet<T>) {
    if (items.empty()) return 0;
    const auto claim = places_.claim_places(items.size());
    if (claim.count == 0) return 0;  // without a store, which would take the line from the consumer
    for (std::size_t i = 0; i < claim.count; ++i) places_.fill(claim[i], std::move(items[i]));
    places_.filled(claim);
    return claim.count;
  }

  // No push that begins after this succeeds. Idempotent.
  void close() noexcept { places_.close(); }

  // ok, empty or closed (and drained).
  Status try_pop(T& out) noexcept {
    check_taken();
    if constexpr (kReplacingCalls<T>) {
      TakenItem<T> taken;
      const Status status = pop_to(taken);
      if (status == Status::ok) out = std::move(taken.value());
      return status;
    } else {
      return pop_to([&](T& item) { out = std::move(item); });
    }
  }

  // The item itself, if there is one now: for items that have no empty state to begin with.
  [[nodiscard]] std::optional<T> try_pop() noexcept {
    std::optional<T> item;
    const auto claim = places_.claim_items(1);
    if (claim.count != 0) take(claim, [&](T& front) { item.emplace(std::move(front)); });
    return item;
  }

  // Moves out as many as there are and have room in `out`; returns how many.
  std::size_t try_pop_batch(std::span<T> out) noexcept {
    check_taken();
    if constexpr (kReplacingCalls<T>) {
      std::size_t count = 0;
      for (std::size_t taken = 1; taken != 0 && count < out.size(); count += taken) {
        taken = take_some(out.subspan(count));
      }
      return count;
    } else {
      if (out.empty()) return 0;
      const auto claim = places_.claim_items(out.size());
      if (claim.count == 0) return 0;  // without a store, as above
      for (std::size_t i = 0; i < claim.count; ++i) {
        out[i] = std::move(places_.item(claim[i]));
        places_.bare(claim[i]);
      }
      places_.bared(claim);
      return claim.count;
    }
  }

  // Calls visitor(T&) on each item and ends it; returns how many. At most `most`, and not for ever
  // while producers go on.
  template <class Visitor>
    requires std::is_invocable_v<Visitor&, T&>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return places_.visit(most, [&](T& item) { detail::call_and_drop(visitor, item); });
  }

  // Figures of the moment, with claimed places; exact at rest.
  std::size_t size() const noexcept { return places_.size(); }
  bool empty() const noexcept { return size() == 0; }

  // Whether close() was called. What came before it happens before a true.
  bool closed() const noexcept { return places_.closed(); }

  // How many places pops have passed over since the last call: for the caller that tells producers
  // of room.
  std::uint32_t take_passed_over() noexcept
    requires requires(Places& places) { places.take_passed_over(); }
  {
    return places_.take_passed_over();
  }

 protected:
  BasicRing(std::size_t capacity, RingStart start) : places_(capacity, start) {}

 private:
  template <class>
  friend struct Books;

  static constexpr void check_taken() noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
  }

  template <class Claim, class To>
  void take(const Claim& claim, To&& to) noexcept {
    to(places_.item(claim.first));
    places_.bare(claim.first);
    places_.bared(claim);
  }
  template <class To>
  Status pop_to(To&& to) noexcept {
    auto claim = places_.claim_items(1);
    if (claim.count == 0) {
      if (const Status status = places_.found_none(claim); status != Status::ok) return status;
    }
    take(claim, to);
    return Status::ok;
  }
  // Moves out some, by way of the stack: what they replace ends when their places are given back,
  // since it may call the queue. 0: none is there.
  std::size_t take_some(std::span<T> out) noexcept {
    constexpr auto most =
        detail::min<std::size_t>(detail::max<std::size_t>(1024 / sizeof(T), 1), 16);
    TakenItem<T> taken[most];
    std::size_t count = 0;
    {
      const auto claim = places_.claim_items(detail::min(out.size(), most));
      for (; count < claim.count; ++count) {
        taken[count](places_.item(claim[count]));
        places_.bare(claim[count]);
      }
      if (count != 0) places_.bared(claim);
    }
    for (std::size_t i = 0; i < count; ++i) out[i] = std::move(taken[i].value());
    return count;
  }

  Places places_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
