// SPDX-License-Identifier: MIT
//
// Which of a pool's workers sleep, which look for work, and which to wake. Not for users.
//
// A worker is busy, searching or asleep. New work needs a wake-up only if nobody is searching and
// somebody sleeps; then one sleeper is woken, the one that fell asleep last, and counts as
// searching from that moment. When it finds work it looks whether there is more, and wakes the
// next: so at most one wake-up is under way, and a burst of work calls up as many workers as it
// needs.
//
// A worker without a thread is absent: asleep, as far as anybody can tell, but the last to be
// chosen, and then started. So growth follows the rule of wake-ups: one at a time.
//
// Concurrency: anybody; a Place is its worker's. Proof: docs/design/thread_pool.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Sleepers {
 public:
  enum class Listed : std::uint8_t { nowhere, asleep, absent };

  // The place of one worker.
  class Place {
   public:
    explicit Place(std::size_t whose = 0) noexcept : number(whose), woken_(false) {}

    const std::size_t number;  // of the worker

   private:
    friend class Sleepers;
    template <class>
    friend struct Books;
    sync::EventCount bed_;
    sync::atomic<bool> woken_;
    sync::cell<Place*> below_;
    sync::cell<Listed> listed_;
  };

  // How long nobody is started after the system refused a thread, unless told otherwise: asking
  // costs as much as a hundred tasks.
  static constexpr std::chrono::milliseconds kRefusedFor{10};

  Sleepers() noexcept : state_(0) {}

  // Whether new work needs a wake-up. The caller has made the work visible, by a seq_cst operation
  // or followed by the light asymmetric fence.
  bool wanted() const noexcept {
    // order: seq_cst, against the read-modify-write in end_search() and the fence in sleep(), which
    // are followed by a look for work.
    const std::uint64_t state = state_.load(sync::order::seq_cst);
    return searching(state) == 0 && sleeping(state) != 0;
  }

  // One worker, if that is still wanted. If it is an absent one, its place is returned: it counts
  // as searching, and the caller starts it or calls put_back().
  [[nodiscard]] Place* wake_one() noexcept;

  // Whether somebody is to be woken, asked by a thread that kept others from doing that:
  // `is_work()` looks for what was handed over meanwhile.
  template <class IsWork>
  bool wanted_for(IsWork&& is_work) noexcept {
    sync::asymmetric_fence_heavy();  // partner is the light half, as in sleep()
    return is_work() && wanted();
  }

  // One that has a thread, if that is still wanted.
  void wake_present() noexcept;
  void wake_all() noexcept;

  void begin_search() noexcept {
    // order: relaxed. A thread that reads it wakes nobody; but no search ends without another look.
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

  enum class Slept : std::uint8_t { not_at_all, until_woken, too_long };

  // A searching worker gives up. It sleeps until woken or until the deadline, unless `stay_awake()`
  // says, after the worker is known to sleep, that there is something to do. Searching again when
  // it returns. What woke it need not be visible yet: its next look comes as a look before sleep
  // does. `by_seq_cst(asleep)`, asked when `asleep` are known to sleep, this one with them: whether
  // all threads that could make work now do so by a seq_cst operation, none by the light fence.
  template <class BySeqCst, class StayAwake>
  Slept sleep(Place& place, BySeqCst&& by_seq_cst, StayAwake&& stay_awake,
              sync::Deadline deadline = sync::no_deadline) noexcept {
    // order: relaxed, the waker of last time is done with it, and the lock below orders the next.
    place.woken_.store(false, sync::order::relaxed);
    const std::uint64_t asleep = list(place);
    // order: seq_cst; partner is the seq_cst operation that makes work, then that in wanted(): a
    // thread that did not see us sleep has made work that the look below sees.
    sync::fence(sync::order::seq_cst);
    // Heavy half; partner is the light half between work and wanted(), for the same reason.
    if (!by_seq_cst(asleep)) sync::asymmetric_fence_heavy();
    if (stay_awake() && unlist_if_listed(place)) return Slept::not_at_all;
    const auto woken = [&place]() noexcept {
      return place.woken_.load(sync::order::relaxed);  // order: relaxed, nothing comes with it
    };
    const sync::Wakeup wakeup = place.bed_.await(woken, deadline, {}, sync::Spin::never, "idle");
    if (wakeup == sync::Wakeup::notified) return Slept::until_woken;
    if (unlist_if_listed(place)) return Slept::too_long;
    // Chosen at the last moment: the waker is about to say so.
    (void)place.bed_.await(woken, sync::no_deadline, {}, sync::Spin::never, "idle");
    return Slept::until_woken;
  }

  // The worker has no thread yet.
  void begin_absent(Place& place) noexcept;

  // A worker that neither searches nor has work is about to end its thread. True: it is absent, and
  // somebody may start it again from here on. False: `stay()` said, after it was known to be
  // absent, that there is something to do, so it searches.
  template <class Stay>
  [[nodiscard]] bool leave(Place& place, Stay&& stay) noexcept {
    begin_absent(place);
    sync::asymmetric_fence_heavy();  // as in sleep()
    return !stay() || !unlist_if_listed(place);
  }

  // The place that wake_one() returned got no thread. The caller then asks wanted_for(), on behalf
  // of the workers that are asleep.
  void put_back(Place& place) noexcept;

  // One of the absent workers from this number on is not to be chosen any more. Null: none there.
  Place* withdraw_from(std::size_t number) noexcept;

  // One of those that sleep from this number on. What the caller did before is seen by the look of
  // each that falls asleep later.
  void wake_from(std::size_t number) noexcept;

  // This one, if it sleeps.
  void wake(Place& place) noexcept;

  // This one, if it is absent: true, and then as after wake_one().
  [[nodiscard]] bool call(Place& place) noexcept;

  // Nobody absent will be wanted any more.
  void forget_absent() noexcept;

 private:
  template <class>
  friend struct Books;

  static constexpr std::uint64_t kSearching = 1;
  static constexpr std::uint64_t kSleeping = std::uint64_t{1} << 32;
  static std::uint64_t searching(std::uint64_t state) noexcept { return state % kSleeping; }
  static std::uint64_t sleeping(std::uint64_t state) noexcept { return state / kSleeping; }

  // How many are asleep now.
  std::uint64_t list(Place& place) noexcept;

  // Under the lock. The sleeper counts as searching from here on.
  void unlist(Place& place) noexcept;

  void remove(Place& place) noexcept;
  void list_absent(Place& place) noexcept;
  Place* take_absent() noexcept;
  static Place* first_from(const sync::cell<Place*>& first, std::size_t number) noexcept;

  // Outside it.
  bool unlist_if_listed(Place& place) noexcept;
  static void rouse(Place& place) noexcept;

  alignas(sync::destructive_span) sync::atomic<std::uint64_t> state_;
  alignas(sync::destructive_span) sync::Mutex mutex_;
  sync::cell<Place*> top_;  // the one that fell asleep last
  sync::cell<Place*> absent_;  // the one that left last
  sync::cell<sync::Deadline> refused_until_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
