// SPDX-License-Identifier: MIT
//
// The buffers of a trace: one for each thread, from which one thread reads them all.
//
// A thread takes a lane at its first event and leaves it when it ends. The reader empties it then,
// and only then another thread may have it. Lanes are linked and stay linked; so a thread that
// comes waits for nothing.
//
// Invariant
//   LN-1  One thread writes into a lane: the one that took it, until it left; the next takes it
//         after the reader, which saw that it was left, has emptied it.
//
// Concurrency: take() and leave() by the thread whose lane it is, visit() by one reader at a time,
//   free_unused() by one thread, once nothing is read.
// Blocks: free_unused(), for a thread that is in take(). Allocates: take(), where no lane is free.
// Exceptions: none; no memory, no lane. Proof: docs/design/tracing.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/relaxed.hpp>

#include "../sync/internal/seen_sanitizer.hpp"
#include "event.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

// Whose events they are.
struct LaneOwner {
  std::int32_t thread = 0;  // the kernel's number
  std::array<char, 16> name{};
};

class Lane {
 public:
  enum State : std::uint32_t { kFree, kTaking, kTaken, kLeft };

  explicit Lane(std::size_t events) : ring_(events), state_(kTaking) {}

  // The owner's: false, and counted, if there is no room.
  bool put(const Event& event) noexcept {
    if (ring_.try_push(event) == Status::ok) [[likely]]
      return true;
    drop();
    return false;
  }
  // Before the first event after some that were dropped: false, if there is no room for that.
  bool put_gap(std::uint64_t ticks) noexcept {
    return ring_.try_push(Event::of_gap(ticks)) == Status::ok;
  }
  // Counts one that was not put.
  [[gnu::cold]] void drop() noexcept { dropped_.add_alone(1); }
  // What is no event by itself: not counted, and left out where there is no room.
  void put_beside(const Event& event) noexcept { (void)ring_.try_push(event); }

  // The reader's. Calls `each(event)` for all that are there.
  template <class Each>
  void read(Each&& each) {
    ring_.consume([&each](const Event& event) { each(event); });
  }
  // How many were dropped since the last call.
  std::uint64_t take_dropped() noexcept {
    const std::uint64_t dropped = dropped_.get();
    return dropped - std::exchange(dropped_told_.write(), dropped);
  }

 private:
  friend class Lanes;

  // order: acquire pairs with the release in become().
  std::uint32_t state() const noexcept { return state_.load(sync::order::acquire); }
  void become(State state) noexcept {
    // order: release pairs with the acquires of state_: the owner, its events, that all are read.
    state_.store(state, sync::order::release);
  }

  SpscRing<Event> ring_;
  sync::relaxed<std::uint64_t> dropped_;
  sync::atomic<std::uint32_t> state_;  // State
  sync::cell<LaneOwner> owner_;
  sync::cell<std::uint64_t> dropped_told_;  // the reader's
  sync::cell<Lane*> next_;  // written before the lane is linked
};

class Lanes {
 public:
  // `events`: room of each lane.
  explicit constexpr Lanes(std::size_t events) noexcept
      : first_(nullptr), takers_(0), shut_(false), events_(events) {}

  // Null: no memory, or shut.
  Lane* take(const LaneOwner& owner) noexcept {
    // order: seq_cst, with the store in free_unused(): either that waits for us, or we see it shut.
    takers_.fetch_add(1, sync::order::seq_cst);
    Lane* const lane = shut_.load(sync::order::seq_cst) ? nullptr : get();  // order: as above
    if (lane != nullptr) {
      lane->owner_.write() = owner;
      lane->become(Lane::kTaken);
      if (lane->next_.read() == lane) link(*lane);
    }
    takers_.fetch_sub(1, sync::order::release);  // order: release pairs with free_unused()
    return lane;
  }

  // An event of a thread that has got none; and how many there were since the last call.
  void lose() noexcept { lost_.add(1); }
  std::uint64_t take_lost() noexcept { return lost_.exchange(0); }

  // Its thread ends.
  static void leave(Lane& lane) noexcept { lane.become(Lane::kLeft); }

  // Calls `each(lane, owner, is_left)` for each that a thread has or had; it reads the lane.
  template <class Each>
  void visit(Each&& each) {
    for (Lane* lane = first(); lane != nullptr; lane = lane->next_.read()) {
      const std::uint32_t state = lane->state();
      if (state != Lane::kTaken && state != Lane::kLeft) continue;
      each(*lane, lane->owner_.read(), state == Lane::kLeft);
      if (state == Lane::kLeft) lane->become(Lane::kFree);  // it is empty (LN-1)
    }
  }

  // In a process that was forked amid a take() of a thread that it has not got.
  void forget_takers() noexcept {
    takers_.store(0, sync::order::relaxed);  // order: relaxed, there is one thread
  }

  // Shuts them for good, and frees those that no thread has, or all. The others may be freed later.
  void free_unused(bool all = false) noexcept {
    const sync::MadeForAll unseen;
    shut_.store(true, sync::order::seq_cst);  // order: seq_cst, see take()
    // order: seq_cst, see take(); as an acquire it pairs with the release there.
    while (takers_.load(sync::order::seq_cst) != 0) sync::pause();
    Lane* lane = first();
    Lane* kept = nullptr;
    while (lane != nullptr) {
      Lane* const after = lane->next_.read();
      const std::uint32_t state = lane->state();
      if (all || state == Lane::kFree || state == Lane::kLeft) {
        delete lane;
      } else {
        lane->next_.write() = kept;
        kept = lane;
      }
      lane = after;
    }
    first_.store(kept, sync::order::relaxed);  // order: relaxed, nothing else looks
  }

 private:
  Lane* first() const noexcept {
    // order: acquire pairs with the release in link(): the lanes and their links.
    return first_.load(sync::order::acquire);
  }

  // One that is free, or a new one, whose link points to itself.
  Lane* get() noexcept {
    for (Lane* lane = first(); lane != nullptr; lane = lane->next_.read()) {
      std::uint32_t state = Lane::kFree;
      // order: acquire pairs with the release in become(); relaxed on failure, the next one then.
      if (lane->state_.compare_exchange_strong(state, Lane::kTaking, sync::order::acquire,
                                               sync::order::relaxed)) {
        return lane;
      }
    }
    Lane* const lane = make();
    if (lane != nullptr) lane->next_.write() = lane;
    return lane;
  }

  Lane* make() noexcept {
    const sync::MadeForAll unseen;
    Lane* lane = nullptr;
    (void)detail::attempt([&] { lane = new Lane(events_); });  // NOLINT(*-exception-at-new)
    return lane;
  }

  void link(Lane& lane) noexcept {
    Lane* first = first_.load(sync::order::relaxed);  // order: relaxed, the exchange decides
    do {
      lane.next_.write() = first;
      // order: release pairs with the acquires of first_: the lane. Relaxed on failure, again then.
    } while (
        !first_.compare_exchange_weak(first, &lane, sync::order::release, sync::order::relaxed));
  }

  sync::atomic<Lane*> first_;
  sync::atomic<std::uint32_t> takers_;
  sync::atomic<bool> shut_;
  sync::relaxed<std::uint64_t> lost_;
  const std::size_t events_;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
