// SPDX-License-Identifier: MIT
//
// Whose turn it is to use a team: one run at a time. Callers of run() sleep until it is theirs;
// started runs, for which nobody waits, lie in a queue, and the thread that ends a turn begins the
// next. Not for users.
//
// Invariants
//   TU-1  The word is kFree only while the queue is empty.
//   TU-2  A waiter, asleep or queued, has set the word to kWanted since it was last kFree, or is
//         about to read it.
// Proof: docs/design/thread_team.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/team/thread_team.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class ThreadTeam::Turns {
 public:
  enum class Answer : std::uint8_t { now, queued, closed };

  Turns() noexcept : word_(kFree), closed_(false) {}

  // For a caller: returns when it is its turn.
  void await() noexcept {
    if (!try_take()) await_slow();
  }

  // For a started run. `now`: it is its turn, and the caller begins it.
  Answer take_or_queue(BulkStorage& run) noexcept {
    if (closed_.load(sync::order::relaxed)) return Answer::closed;  // order: see close()
    return try_take() ? Answer::now : queue(run);
  }

  // The turn ends. Not null: it passes on to this run, and the caller begins it.
  [[nodiscard]] BulkStorage* end() noexcept {
    std::uint32_t word = kTaken;
    // order: release pairs with the acquires in try_take(), await_slow() and queue(); relaxed on
    // failure, end_wanted() is ordered by itself.
    if (word_.compare_exchange_strong(word, kFree, sync::order::release, sync::order::relaxed)) {
      return nullptr;
    }
    return end_wanted();
  }

  // From now on no started run is taken.
  void close() noexcept {
    const sync::Lock lock(mutex_);
    // order: relaxed, here and where it is read: a thread that reads it too early finds the turn
    // free, and then the run is waited for; or has to queue, and reads it again under the lock.
    closed_.store(true, sync::order::relaxed);
  }

  // The caller keeps the turn, unless a run is queued: then it passes on to that one.
  [[nodiscard]] BulkStorage* pass_on() noexcept {
    const sync::Lock lock(mutex_);
    return take_queued();
  }

 private:
  // kWanted: taken, and the thread that ends it has to look for others.
  enum Word : std::uint32_t { kFree, kTaken, kWanted };

  bool try_take() noexcept {
    std::uint32_t word = kFree;
    // order: acquire pairs with the releases in end() and end_wanted(); relaxed on failure, nothing
    // was gained.
    return word_.compare_exchange_strong(word, kTaken, sync::order::acquire, sync::order::relaxed);
  }

  // Takes it, or has the thread that ends it look.
  bool take_or_want() noexcept {
    // order: acquire pairs with the releases in end() and end_wanted().
    return word_.exchange(kWanted, sync::order::acquire) == kFree;
  }

  void await_slow() noexcept {
    for (sync::Backoff backoff; backoff.snooze();) {
      // order: relaxed, a look only; try_take() acquires.
      if (word_.load(sync::order::relaxed) == kFree && try_take()) return;
    }
    (void)callers_.await([this]() noexcept { return take_or_want(); }, sync::no_deadline, {},
                         sync::Spin::never);
  }

  Answer queue(BulkStorage& run) noexcept {
    const sync::Lock lock(mutex_);
    if (closed_.load(sync::order::relaxed)) return Answer::closed;  // order: see close()
    if (take_or_want()) return Answer::now;
    run.next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = &run;
    last_ = &run;
    return Answer::queued;
  }

  BulkStorage* take_queued() noexcept {
    BulkStorage* const run = first_;
    if (run != nullptr) {
      first_ = run->next_;
      if (first_ == nullptr) last_ = nullptr;
    }
    return run;
  }

  BulkStorage* end_wanted() noexcept {
    {
      const sync::Lock lock(mutex_);
      // The word stays kWanted: others may be in the queue or asleep.
      if (BulkStorage* const next = take_queued()) return next;
      // order: release pairs with the acquires in try_take() and take_or_want().
      word_.store(kFree, sync::order::release);
    }
    callers_.notify_one();
    return nullptr;
  }

  sync::atomic<std::uint32_t> word_;
  sync::atomic<bool> closed_;
  sync::EventCount callers_;
  sync::Mutex mutex_;  // for the queue
  BulkStorage* first_ = nullptr;
  BulkStorage* last_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI
