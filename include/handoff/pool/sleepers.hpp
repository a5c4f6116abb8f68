// SPDX-License-Identifier: MIT
//
// Who of a pool's workers sleeps, who looks for work, and whom to wake. Not for users.
//
// A worker is busy, searching or asleep. New work needs a wake-up only if nobody is searching and
// somebody sleeps; then one sleeper is woken, the one that fell asleep last, and counts as
// searching from that moment. When it finds work it looks whether there is more, and wakes the
// next: so at most one wake-up is under way, and a burst of work calls up as many workers as it
// needs.
//
// Concurrency: anybody; a Place is its worker's. Proof: docs/design/thread_pool.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/atomic.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/cell.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/fence.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff::inline HANDOFF_ABI::detail {

class Sleepers {
 public:
  // Of one worker.
  class Place {
   public:
    Place() noexcept : woken_(false) {}

   private:
    friend class Sleepers;
    sync::EventCount bed_;
    sync::atomic<bool> woken_;
    sync::cell<Place*> below_;
    sync::cell<bool> listed_;
  };

  Sleepers() noexcept : state_(0) {}

  // Whether new work needs a wake-up. The caller has made the work visible, by a seq_cst operation
  // or followed by the light asymmetric fence.
  bool wanted() const noexcept {
    // order: seq_cst, against the read-modify-write in end_search() and the fence in sleep(), which
    // are followed by a look for work.
    const std::uint64_t state = state_.load(sync::order::seq_cst);
    return searching(state) == 0 && sleeping(state) != 0;
  }

  // One worker, if that is still wanted. False if not.
  bool wake_one() noexcept {
    Place* place = nullptr;
    {
      const sync::Lock lock(mutex_);
      if (!wanted()) return false;
      place = top_.read();
      unlist(*place);
    }
    rouse(*place);
    return true;
  }

  void wake_all() noexcept {
    for (;;) {
      Place* place = nullptr;
      {
        const sync::Lock lock(mutex_);
        place = top_.read();
        if (place == nullptr) return;
        unlist(*place);
      }
      rouse(*place);
    }
  }

  void begin_search() noexcept {
    // order: relaxed. Whoever reads it wakes nobody; but no search ends without another look.
    state_.fetch_add(kSearching, sync::order::relaxed);
  }

  struct Left {
    bool nobody_searches;
    std::uint64_t asleep;
  };
  // The caller has found work. If nobody searches any more and some are asleep, it has to look
  // whether there is more than it took.
  Left end_search() noexcept {
    // order: seq_cst, see wanted().
    const std::uint64_t before = state_.fetch_sub(kSearching, sync::order::seq_cst);
    return {searching(before) == 1, sleeping(before)};
  }

  // A searching worker gives up. It sleeps until woken, unless `stay_awake()` says, after the
  // worker is known to sleep, that there is something to do: then it returns false. Searching again
  // when it returns. What woke it need not be visible yet: its next look comes as a look before
  // sleep does.
  template <class StayAwake>
  bool sleep(Place& place, StayAwake&& stay_awake) noexcept {
    // order: relaxed, the waker of last time is done with it, and the lock below orders the next.
    place.woken_.store(false, sync::order::relaxed);
    list(place);
    // Heavy half; partner is the light half, or the seq_cst order, between work and wanted(): who
    // did not see us sleep has made work that the next line sees.
    sync::asymmetric_fence_heavy();
    if (stay_awake() && unlist_if_listed(place)) return false;
    (void)place.bed_.await(
        [&place]() noexcept {
          return place.woken_.load(sync::order::relaxed);  // order: relaxed, nothing comes with it
        },
        sync::no_deadline, {}, sync::Spin::never);
    return true;
  }

 private:
  static constexpr std::uint64_t kSearching = 1;
  static constexpr std::uint64_t kSleeping = std::uint64_t{1} << 32;
  static std::uint64_t searching(std::uint64_t state) noexcept { return state % kSleeping; }
  static std::uint64_t sleeping(std::uint64_t state) noexcept { return state / kSleeping; }

  void list(Place& place) noexcept {
    const sync::Lock lock(mutex_);
    place.below_.write() = top_.read();
    place.listed_.write() = true;
    top_.write() = &place;
    state_.fetch_add(kSleeping - kSearching, sync::order::relaxed);  // order: relaxed, fenced later
  }

  // Under the lock. The sleeper counts as searching from here on.
  void unlist(Place& place) noexcept {
    sync::cell<Place*>* link = &top_;
    while (link->read() != &place) link = &link->read()->below_;
    link->write() = place.below_.read();
    place.listed_.write() = false;
    // order: relaxed, as in begin_search().
    state_.fetch_sub(kSleeping - kSearching, sync::order::relaxed);
  }

  bool unlist_if_listed(Place& place) noexcept {
    const sync::Lock lock(mutex_);
    if (!place.listed_.read()) return false;
    unlist(place);
    return true;
  }

  static void rouse(Place& place) noexcept {
    place.woken_.store(true, sync::order::relaxed);  // order: relaxed, nothing comes with it
    place.bed_.notify_one();
  }

  alignas(sync::destructive_span) sync::atomic<std::uint64_t> state_;
  alignas(sync::destructive_span) sync::Mutex mutex_;
  sync::cell<Place*> top_;  // the one that fell asleep last
};

}  // namespace handoff::inline HANDOFF_ABI::detail
