// SPDX-License-Identifier: MIT
//
// Puts the two ends of each hand-over together, and counts those that are under way.
//
// Both ends name the address of what was handed over. Told in the order of time, an address is
// handed, moved perhaps, and taken, again and again. The clocks' looks are not that exact: where
// one thread waits for what another one is about to publish, the taking may seem to come first. So
// one that finds nothing handed is kept for a moment.
// Concurrency: one thread's. Allocates: as its table grows. Exceptions: std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <handoff/config.hpp>
#include <handoff/probe/internal/hook.hpp>

#include "address_table.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

// Where and when, in nanoseconds.
struct HandEnd {
  std::int32_t thread = 0;
  std::int64_t when = 0;
  bool is_outside = false;  // of all slices of the thread
};
struct HandOver {
  HandEnd from;
  HandEnd to;
};

class HandOvers {
 public:
  static constexpr std::size_t kKinds = 16;
  static constexpr std::int64_t kSlack = 10'000;  // of what seems to be taken before it is handed

  // Each may complete a hand-over.
  std::optional<HandOver> hand(probe::Kind kind, std::uint64_t what, const HandEnd& from) {
    std::optional<HandOver> done;
    for (;;) {
      const auto [at, is_new] = places_.try_emplace(what, Place{State::handed, kind, from, 0});
      if (is_new) break;
      const Place before = *at;
      if (before.state == State::handed) ++lost_;  // its taker was not seen
      if (before.state == State::handed) --counts_[index(before.kind)];
      const bool fits = from.when - before.end.when <= kSlack;
      if (before.state == State::taken && fits) {
        places_.erase(what);
        return put_together(from, before.end);
      }
      if (before.state == State::moved && fits) {
        places_.erase(what);
        what = before.to;
        continue;
      }
      *at = {State::handed, kind, from, 0};
      break;
    }
    ++counts_[index(kind)];
    return done;
  }

  // To several: each that takes it completes one.
  void share(std::uint64_t what, const HandEnd& from) {
    Place& place = places_[what];
    if (place.state == State::handed) --counts_[index(place.kind)];
    place = {State::shared, probe::Kind::loop, from, 0};
  }

  std::optional<HandOver> take(probe::Kind kind, std::uint64_t what, const HandEnd& to) {
    const auto [at, is_new] = places_.try_emplace(what, Place{State::taken, kind, to, 0});
    if (is_new) return std::nullopt;
    const Place before = *at;
    if (before.state == State::shared) {
      at->end.is_outside = false;  // the first one has made a slice there
      return put_together(before.end, to);
    }
    if (before.state != State::handed) {
      *at = {State::taken, kind, to, 0};
      return std::nullopt;
    }
    places_.erase(what);
    --counts_[index(before.kind)];
    return put_together(before.end, to);
  }

  // It is begun by none.
  void forget(std::uint64_t what) noexcept {
    const Place* const at = places_.find(what);
    if (at == nullptr || at->state != State::handed) return;
    --counts_[index(at->kind)];
    places_.erase(what);
  }

  void move(probe::Kind kind, std::uint64_t from, std::uint64_t to, const HandEnd& by) {
    const Place* const at = places_.find(from);
    if (at == nullptr || at->state != State::handed) {
      places_[from] = {State::moved, kind, by, to};
      return;
    }
    const Place place = *at;
    places_.erase(from);
    Place& there = places_[to];
    if (there.state == State::handed) {
      ++lost_;
      --counts_[index(there.kind)];
    }
    there = place;
  }

  // How many of a kind are handed over and not taken.
  std::size_t under_way(probe::Kind kind) const noexcept { return counts_[index(kind)]; }
  // Those of all kinds, and those whose other end was never seen.
  std::uint64_t open() const noexcept {
    std::uint64_t sum = lost_;
    for (const std::size_t count : counts_) sum += count;
    return sum;
  }

 private:
  enum class State : std::uint8_t { nothing, handed, shared, moved, taken };
  struct Place {
    State state = State::nothing;
    probe::Kind kind = {};
    HandEnd end;
    std::uint64_t to = 0;  // of what was moved
  };

  static std::size_t index(probe::Kind kind) noexcept { return static_cast<std::size_t>(kind); }

  // What is taken was handed before. Then it may be outside of the slice that it was in.
  static HandOver put_together(HandEnd from, const HandEnd& to) noexcept {
    if (from.when > to.when) from = {from.thread, to.when, true};
    return {from, to};
  }

  AddressTable<Place> places_;
  std::array<std::size_t, kKinds> counts_{};
  std::uint64_t lost_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
