// SPDX-License-Identifier: MIT
//
// Who waits for the end of which passes. The protocol and its proof: docs/design/callback_list.md.
//
// Invariants, under the registry's mutex:
//   I1  Every thread that is in a pass has its record in the list.
//   I2  What is pending was hidden before its epoch was drawn.
//   I3  A pass that blocks something pending or awaited will call ended(): its record was asked, a
//       heavy fence followed, and only then was it seen to block.
#include <handoff/core/misuse.hpp>
#include <handoff/event/passes.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <utility>

namespace handoff::inline HANDOFF_ABI::detail {

constinit sync::atomic<std::uint64_t> pass_epoch{1};

namespace {

constinit sync::Mutex registry_mutex;
constinit sync::atomic<PassRecord*> first_record{nullptr};
constinit sync::atomic<Retired*> first_pending{nullptr};

// Notified whenever a pass has ended that somebody asked about.
sync::EventCount& passes_ended() noexcept {
  static sync::EventCount ended;
  return ended;
}

}  // namespace

class PassRegistry {
 public:
  static void add(PassRecord& record) noexcept {
    const sync::Lock lock(registry_mutex);
    PassRecord* const first = first_of_all();
    record.next_ = first;
    if (first != nullptr) first->previous_ = &record;
    first_record.store(&record, sync::order::relaxed);  // order: relaxed, under the mutex
  }

  static void remove(PassRecord& record) noexcept {
    const sync::Lock lock(registry_mutex);
    if (record.next_ != nullptr) record.next_->previous_ = record.previous_;
    if (record.previous_ != nullptr) {
      record.previous_->next_ = record.next_;
    } else {
      first_record.store(record.next_, sync::order::relaxed);  // order: relaxed, under the mutex
    }
  }

  // Draws the epoch of something that has just been hidden.
  static std::uint64_t next_epoch() noexcept {
    // order: release pairs with the acquire in Pass::begin().
    return pass_epoch.fetch_add(1, sync::order::release);
  }

  static void retire(Retired& first) noexcept {
    const std::uint64_t epoch = next_epoch();
    Retired* last = &first;
    for (Retired* each = &first; each != nullptr; each = each->next) {
      each->epoch = epoch;
      last = each;
    }
    {
      const sync::Lock lock(registry_mutex);
      last->next = first_pending.load(sync::order::relaxed);  // order: relaxed, under the mutex
      first_pending.store(&first, sync::order::relaxed);      // order: relaxed, under the mutex
    }
    collect();
  }

  // Frees whatever no pass stands in the way of.
  static void collect() noexcept {
    Retired* freed = nullptr;
    {
      const sync::Lock lock(registry_mutex);
      sync::asymmetric_fence_heavy();
      // Who was asked just now may have ended just before and not have noticed.
      while (take_unblocked(freed)) sync::asymmetric_fence_heavy();
    }
    while (freed != nullptr) {
      Retired& each = *std::exchange(freed, freed->next);
      each.free(each.object);
    }
  }

  // Whether a thread but `me` is in a pass over `subject` that began by `epoch`.
  static bool somebody_passes(const PassSubject& subject, std::uint64_t epoch,
                              const PassRecord& me, bool ask) noexcept {
    const sync::Lock lock(registry_mutex);
    bool found = false;
    for (PassRecord* record = first_of_all(); record != nullptr; record = record->next_) {
      if (record == &me || !blocks(*record, subject, epoch)) continue;
      found = true;
      if (ask) record->asked_.store(true, sync::order::relaxed);  // order: relaxed, see I3
    }
    return found;
  }

  // Notes what `me` is about to wait for. False if that would close a circle of waits.
  static bool begin_wait(PassRecord& me, const PassSubject& subject, std::uint64_t epoch) noexcept {
    const sync::Lock lock(registry_mutex);
    me.awaited_ = &subject;
    me.awaited_epoch_ = epoch;
    if (!waits_for(me, me)) return true;
    me.awaited_ = nullptr;
    return false;
  }

  static void end_wait(PassRecord& me) noexcept {
    const sync::Lock lock(registry_mutex);
    me.awaited_ = nullptr;
  }

 private:
  static PassRecord* first_of_all() noexcept {
    return first_record.load(sync::order::relaxed);  // order: relaxed, under the mutex
  }

  static bool blocks(const PassRecord& record, const PassSubject& wanted,
                     std::uint64_t epoch) noexcept {
    for (const PassRecord::Slot& slot : record.slots_) {
      // order: acquire pairs with the releases in Pass::begin() and Pass::end().
      const std::uint64_t begun = slot.epoch.load(sync::order::acquire);
      if (begun == 0 || begun > epoch) continue;
      // order: acquire pairs with the releases in Pass::begin() and Pass::narrow().
      const void* const subject = slot.subject.load(sync::order::acquire);
      if (subject == nullptr || subject == wanted.subject || subject == wanted.owner) return true;
    }
    return false;
  }

  // Moves what can be freed to `freed`. True if something stays because of a pass whose thread was
  // not asked before.
  static bool take_unblocked(Retired*& freed) noexcept {
    bool newly_asked = false;
    Retired* kept = nullptr;
    // order: relaxed, under the mutex
    for (Retired* each = first_pending.load(sync::order::relaxed); each != nullptr;) {
      Retired& item = *std::exchange(each, each->next);
      bool blocked = false;
      for (PassRecord* record = first_of_all(); record != nullptr; record = record->next_) {
        if (!blocks(*record, item.seen_by, item.epoch)) continue;
        blocked = true;
        // order: relaxed, see I3
        if (!record->asked_.exchange(true, sync::order::relaxed)) newly_asked = true;
      }
      Retired*& chain = blocked ? kept : freed;
      item.next = std::exchange(chain, &item);
    }
    first_pending.store(kept, sync::order::relaxed);  // order: relaxed, under the mutex
    return newly_asked;
  }

  // Whether `waiter` cannot go on before `target` does. Ends: a circle that misses `target` would
  // have been refused when it was about to close.
  static bool waits_for(const PassRecord& waiter, const PassRecord& target) noexcept {
    for (PassRecord* record = first_of_all(); record != nullptr; record = record->next_) {
      if (record == &waiter || !blocks(*record, *waiter.awaited_, waiter.awaited_epoch_)) continue;
      if (record == &target) return true;
      if (record->awaited_ != nullptr && waits_for(*record, target)) return true;
    }
    return false;
  }
};

Garbage::~Garbage() {
  if (first_ != nullptr) PassRegistry::retire(*first_);
}

PassRecord::PassRecord() noexcept { PassRegistry::add(*this); }

PassRecord::~PassRecord() {
  sync::thread_slot<PassRecord*, PassRecord>::get() = nullptr;
  sync::thread_slot<bool, PassRecord>::get() = true;
  PassRegistry::remove(*this);
}

PassRecord& PassRecord::enroll() {
  if (sync::thread_slot<bool, PassRecord>::get()) {
    misuse("listeners were called by a thread_local's destructor; call them while the thread runs");
  }
  PassRecord& record = sync::thread_slot<PassRecord, PassRecord>::get();
  sync::thread_slot<PassRecord*, PassRecord>::get() = &record;
  return record;
}

// A pass of this thread has ended, and somebody wants to know.
void PassRecord::ended() noexcept {
  asked_.store(false, sync::order::relaxed);  // order: relaxed; who still needs it asks again
  PassRegistry::collect();
  passes_ended().notify_all();
}

void await_passes(PassSubject subject) {
  PassRecord& me = PassRecord::mine();
  const std::uint64_t epoch = PassRegistry::next_epoch();
  sync::asymmetric_fence_heavy();
  for (sync::Backoff backoff; PassRegistry::somebody_passes(subject, epoch, me, false);) {
    if (backoff.snooze()) continue;
    if (!PassRegistry::begin_wait(me, subject, epoch)) {
      misuse("remove_and_wait() in a callback would wait for a thread that waits for this one; "
             "use remove() in callbacks");
    }
    const auto all_ended = [&] {
      if (!PassRegistry::somebody_passes(subject, epoch, me, true)) return true;
      sync::asymmetric_fence_heavy();
      return !PassRegistry::somebody_passes(subject, epoch, me, false);
    };
    (void)passes_ended().await(all_ended, sync::no_deadline, {}, sync::Spin::never);
    PassRegistry::end_wait(me);
    return;
  }
}

}  // namespace handoff::inline HANDOFF_ABI::detail
