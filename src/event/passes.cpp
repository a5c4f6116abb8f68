// SPDX-License-Identifier: MIT
//
// Who waits for the end of which passes. The protocol and its proof: docs/design/callback_list.md.
//
// Invariants, under the registry's mutex:
//   I1  Every thread that is in a pass has its record in the list.
//   I2  What is pending was hidden before its epoch was drawn.
//   I3  A pass on which something hangs, or that is awaited, will call ended(): it was asked, and
//       it is this thread's own, or a heavy fence followed and only then was it seen to block.
#include <handoff/core/misuse.hpp>
#include <handoff/event/passes.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/thread_object.hpp>
#include <utility>

namespace handoff::inline HANDOFF_ABI::sync {
HANDOFF_THREAD_SLOT_PLACE(handoff::detail::PassRecord*, handoff::detail::PassRecord);
}

namespace handoff::inline HANDOFF_ABI::detail {

constinit sync::atomic<std::uint64_t> pass_epoch{1};

namespace {

constinit sync::Mutex registry_mutex;
constinit sync::atomic<PassRecord*> first_record{nullptr};

struct Here;
bool& has_ended() noexcept { return sync::thread_slot<bool, Here>::get(); }

// Notified whenever a pass has ended that somebody asked about.
sync::EventCount& passes_ended() noexcept {
  static sync::EventCount ended;
  return ended;
}

void push(Retired*& chain, Retired& item) noexcept { item.next = std::exchange(chain, &item); }
Retired& pop(Retired*& chain) noexcept { return *std::exchange(chain, chain->next); }

void free_all(Retired* chain) noexcept {
  while (chain != nullptr) {
    Retired& each = pop(chain);
    each.free(each.object);
  }
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

  // Frees what no pass stands in the way of; the rest hangs on one that does. What hangs already
  // is not looked at, or many removals in one pass would take the square of their number.
  static void retire(Retired* chain) noexcept {
    const std::uint64_t epoch = next_epoch();
    PassRecord* const me = sync::thread_slot<PassRecord*, PassRecord>::get();
    Retired* freed = nullptr;
    Retired* others = nullptr;
    {
      const sync::Lock lock(registry_mutex);
      while (chain != nullptr) {
        Retired& item = pop(chain);
        item.epoch = epoch;
        // A pass of this thread sees by itself that it was asked: no fence.
        if (me == nullptr || !hang_on(*me, item)) push(others, item);
      }
      freed = settle(others);
    }
    free_all(freed);
  }

  // By the thread of the slot, when a pass has ended that somebody asked about.
  static void ended(PassSlot& slot) noexcept {
    slot.asked.store(false, sync::order::relaxed);  // order: relaxed; who needs it asks again
    Retired* freed = nullptr;
    {
      const sync::Lock lock(registry_mutex);
      freed = settle(std::exchange(slot.pending, nullptr));
    }
    free_all(freed);
    passes_ended().notify_all();
  }

  // Whether a thread but `me` is in a pass over `subject` that began by `epoch`.
  static bool somebody_passes(const PassSubject& subject, std::uint64_t epoch,
                              const PassRecord& me, bool ask) noexcept {
    const sync::Lock lock(registry_mutex);
    bool found = false;
    for (PassRecord* record = first_of_all(); record != nullptr; record = record->next_) {
      PassSlot* const slot = record == &me ? nullptr : blocker(*record, subject, epoch);
      if (slot == nullptr) continue;
      found = true;
      if (ask) slot->asked.store(true, sync::order::relaxed);  // order: relaxed, see I3
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

  // The slot of `record` that blocks what was hidden from `wanted` in that epoch. Null: none.
  static PassSlot* blocker(PassRecord& record, const PassSubject& wanted,
                           std::uint64_t epoch) noexcept {
    for (PassSlot& slot : record.slots_) {
      // order: acquire pairs with the releases in Pass::begin() and Pass::end().
      const std::uint64_t begun = slot.epoch.load(sync::order::acquire);
      if (begun == 0 || begun > epoch) continue;
      // order: acquire pairs with the releases in Pass::begin() and Pass::narrow().
      const void* const subject = slot.subject.load(sync::order::acquire);
      if (subject == nullptr || subject == wanted.subject || subject == wanted.owner) return &slot;
    }
    return nullptr;
  }

  static PassSlot* blocker(const Retired& item) noexcept {
    for (PassRecord* record = first_of_all(); record != nullptr; record = record->next_) {
      if (PassSlot* const slot = blocker(*record, item.seen_by, item.epoch)) return slot;
    }
    return nullptr;
  }

  // False if no pass of `me`, this thread, blocks it.
  static bool hang_on(PassRecord& me, Retired& item) noexcept {
    PassSlot* const slot = blocker(me, item.seen_by, item.epoch);
    if (slot == nullptr) return false;
    slot->asked.store(true, sync::order::relaxed);  // order: relaxed, see I3
    push(slot->pending, item);
    return true;
  }

  // Returns what can be freed of the chain; hangs the rest on what blocks it.
  static Retired* settle(Retired* chain) noexcept {
    Retired* freed = nullptr;
    // Who is asked in one round may have ended just before and not have noticed: another round.
    for (bool newly_asked = chain != nullptr; newly_asked;) {
      sync::asymmetric_fence_heavy();
      newly_asked = false;
      Retired* blocked = nullptr;
      while (chain != nullptr) {
        Retired& item = pop(chain);
        PassSlot* const slot = blocker(item);
        item.blocked_by = slot;
        push(slot != nullptr ? blocked : freed, item);
        // order: relaxed, see I3
        if (slot != nullptr && !slot->asked.exchange(true, sync::order::relaxed)) {
          newly_asked = true;
        }
      }
      chain = blocked;
    }
    while (chain != nullptr) {
      Retired& item = pop(chain);
      push(item.blocked_by->pending, item);
    }
    return freed;
  }

  // Whether `waiter` cannot go on before `target` does. Ends: a circle that misses `target` would
  // have been refused when it was about to close.
  static bool waits_for(const PassRecord& waiter, const PassRecord& target) noexcept {
    for (PassRecord* record = first_of_all(); record != nullptr; record = record->next_) {
      if (record == &waiter) continue;
      if (blocker(*record, *waiter.awaited_, waiter.awaited_epoch_) == nullptr) continue;
      if (record == &target) return true;
      if (record->awaited_ != nullptr && waits_for(*record, target)) return true;
    }
    return false;
  }
};

Garbage::~Garbage() {
  if (first_ != nullptr) PassRegistry::retire(first_);
}

PassRecord::PassRecord() noexcept { PassRegistry::add(*this); }

PassRecord::~PassRecord() {
  sync::thread_slot<PassRecord*, PassRecord>::get() = nullptr;
  has_ended() = true;
  PassRegistry::remove(*this);
}

PassRecord& PassRecord::enroll() {
  if (has_ended()) {
    misuse("listeners were called after the thread's end, by a destructor of thread-specific data; "
           "call them while the thread runs");
  }
  PassRecord& record = sync::thread_object<PassRecord, Here>::get();
  sync::thread_slot<PassRecord*, PassRecord>::get() = &record;
  return record;
}

void PassRecord::ended(PassSlot& slot) noexcept { PassRegistry::ended(slot); }

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
