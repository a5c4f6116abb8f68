// SPDX-License-Identifier: MIT
//
// Threads that wait for the end of passes. Protocol and proof: docs/design/callback_list.md.
//
// Invariants, under the registry's mutex:
//   EP-1  Every thread that is in a pass has its record in the list.
//   EP-2  What is pending was hidden before its epoch was drawn.
//   EP-3  A pass on which something hangs, or that is awaited, will call ended(): it was asked, and
//         it is this thread's own, or a heavy fence followed and only then was it seen to block.
//   EP-4  A thread in a pass that may miss what is hidden from now on has its group's bit set in
//         `present`; while a Look is under way, kLooking is set instead.
//   EP-5  While kFenced is set in `present`, and a heavy fence came after that, a pass that begins
//         fences, or a look sees it, or it sees all that was hidden before kFenced was cleared.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <handoff/core/misuse.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/thread_object.hpp>
#include <handoff/sync/mutex.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
HANDOFF_THREAD_SLOT_PLACE(handoff::detail::PassRecord*, handoff::detail::PassRecord);
}}}  // namespace handoff::HANDOFF_ABI::sync

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

constinit PassWords pass_words;

namespace {

// More threads than groups share them.
// kManyHeavy heavy fences make passes begin with full ones. That ends with kQuiet passes of a
// thread, while nothing is retired, which have cost about as much as one heavy fence.
#if defined(HANDOFF_EXPLORE)
constexpr std::size_t kGroups = 2;
constexpr std::uint32_t kManyHeavy = 1;
constexpr std::uint32_t kQuiet = 2;
#else
constexpr std::size_t kGroups = 62;
constexpr std::uint32_t kManyHeavy = 16;
constexpr std::uint32_t kQuiet = 512;
#endif
constexpr std::uint64_t kAllGroups = (std::uint64_t{1} << kGroups) - 1;
constexpr std::uint64_t kLooking = std::uint64_t{1} << 63;  // somebody looks: ask the mutex

struct Chain {
  sync::atomic<PassRecord*> first{nullptr};
};

constinit sync::Mutex registry_mutex;
constinit Chain records_of_groups[kGroups];
constinit sync::atomic<std::size_t> next_group{0};
constinit sync::atomic<std::uint32_t> heavy_fences{0};  // kManyHeavy: passes fence

struct Here;
bool& has_ended() noexcept { return sync::thread_slot<bool, Here>::get(); }

// Notified whenever a pass that somebody asked about has ended.
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
    // A group of its own, if there is one without threads.
    std::size_t group = 0;
    while (group < kGroups && first_of(group) != nullptr) ++group;
    // order: relaxed, under the mutex
    if (group == kGroups) group = next_group.fetch_add(1, sync::order::relaxed) % kGroups;
    PassRecord* const first = first_of(group);
    record.group_ = std::uint64_t{1} << group;
    record.next_ = first;
    if (first != nullptr) first->previous_ = &record;
    set_first(group, &record);
  }

  static void remove(PassRecord& record) noexcept {
    const sync::Lock lock(registry_mutex);
    if (record.next_ != nullptr) record.next_->previous_ = record.previous_;
    if (record.previous_ != nullptr) {
      record.previous_->next_ = record.next_;
    } else {
      set_first(group_of(record.group_), record.next_);
    }
  }

  // Draws the epoch of something that has just been hidden.
  static std::uint64_t next_epoch() noexcept {
    // order: release pairs with the acquire in Pass::begin().
    return pass_words.epoch.fetch_add(1, sync::order::release);
  }

  // Frees what no pass stands in the way of; the rest hangs on one that does. What hangs already
  // is not looked at, or many removals in one pass would take the square of their number.
  static void retire(Retired* chain) noexcept {
    if (nobody_passes()) return free_all(chain);
    const std::uint64_t epoch = next_epoch();
    PassRecord* const me = sync::thread_slot<PassRecord*, PassRecord>::get();
    // equivalent(negate): only speed: what no own pass blocks is settled by a look
    if (me != nullptr && me->depth_ != 0) chain = hang_on_own(*me, chain, epoch);
    if (chain == nullptr) return;
    {
      const sync::Lock lock(registry_mutex);
      chain = settle(chain, epoch);
    }
    free_all(chain);
  }

  // By the thread of the slot, when a pass that somebody asked about has ended.
  static void ended(PassSlot& slot) noexcept {
    // equivalent(delete): only speed: a slot that stays asked tells the end of each pass
    slot.asked.store(false, sync::order::relaxed);  // order: relaxed; the next look asks again
    Retired* chain = std::exchange(slot.own, nullptr);
    {
      const sync::Lock lock(registry_mutex);
      while (slot.pending != nullptr) push(chain, pop(slot.pending));
      chain = settle(chain, 0);
    }
    free_all(chain);
    passes_ended().notify_all();
  }

  // From here on each pass that may miss what is hidden is found by somebody_passes(). A fence
  // only if somebody else may be in a pass.
  static void order_passes() noexcept {
    const sync::Lock lock(registry_mutex);
    Look at_all;
    at_all.look(false);
  }

  // Whether a thread but `me` is in a pass over `subject` that began by `epoch`.
  static bool somebody_passes(const PassSubject& subject, std::uint64_t epoch, const PassRecord* me,
                              bool ask) noexcept {
    const sync::Lock lock(registry_mutex);
    bool found = false;
    (void)any_of(kAllGroups, [&](PassRecord& record) {
      PassSlot* const slot = &record == me ? nullptr : blocker(record, subject, epoch);
      if (slot == nullptr) return false;
      found = true;
      if (ask) slot->asked.store(true, sync::order::relaxed);  // order: relaxed, see EP-3
      return false;
    });
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

  // Passes need no fence any more, until looks are many again. Now, or with a later pass.
  static void leave_fences() noexcept {
    // equivalent(return_early) all: only speed: when passes leave off fencing is a guess
    if (!registry_mutex.try_lock()) return;
    heavy_fences.store(0, sync::order::relaxed);  // order: relaxed, under the mutex
    // order: relaxed, part of the release sequences of the looks before: a thread that finds the
    // bit clear in Pass::begin() has acquired what they hid.
    // equivalent(delete): only speed: when passes leave off fencing is a guess
    pass_words.present.fetch_and(~PassWords::kFenced, sync::order::relaxed);
    registry_mutex.unlock();
  }

  static void end_wait(PassRecord& me) noexcept {
    const sync::Lock lock(registry_mutex);
    me.awaited_ = nullptr;
  }

 private:
  static std::size_t group_of(std::uint64_t bit) noexcept {
    return static_cast<std::size_t>(std::countr_zero(bit));
  }
  static PassRecord* first_of(std::size_t group) noexcept {
    // order: relaxed, under the mutex
    return records_of_groups[group].first.load(sync::order::relaxed);
  }
  static void set_first(std::size_t group, PassRecord* record) noexcept {
    // order: relaxed, under the mutex
    records_of_groups[group].first.store(record, sync::order::relaxed);
  }

  // Whether `wanted(record)` is true for one of these groups' threads.
  template <class Wanted>
  static bool any_of(std::uint64_t groups, Wanted&& wanted) noexcept {
    for (; groups != 0; groups &= groups - 1) {
      for (PassRecord* record = first_of(group_of(groups)); record != nullptr;
           record = record->next_) {
        if (wanted(*record)) return true;
      }
    }
    return false;
  }

  // A look at all threads that may be in a pass: their bits are clear meanwhile, so that a thread
  // that begins a pass has seen what is hidden, or is seen after fence(). At the end the threads in
  // a pass have them again; the others need not be looked at before their next pass.
  class Look {
   public:
    Look() noexcept : groups_(begin() & kAllGroups) {
      const PassRecord* const me = sync::thread_slot<PassRecord*, PassRecord>::get();
      others_ = groups_;
      if (me != nullptr && me->next_ == nullptr && me->previous_ == nullptr) {
        others_ &= ~me->group_;
      }
    }
    ~Look() {
      std::uint64_t in_a_pass = 0;
      for (const PassRecord* each = passing_; each != nullptr; each = each->next_passing_) {
        in_a_pass |= each->group_;
      }
      // order: relaxed, nobody finds 0 before the next one
      if (in_a_pass != 0) pass_words.present.fetch_or(in_a_pass, sync::order::relaxed);
      // order: release pairs with the acquire in nobody_passes(): the passes found ended.
      // equivalent(delete): only speed: without the short way all is settled by a look
      pass_words.present.fetch_and(~kLooking, sync::order::release);
    }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    // Finds the threads in a pass. Each thread is looked at once, not once for each thing hidden.
    // `again`: after some were asked, which the threads that end their passes see.
    void look(bool again) noexcept {
      if (others_ != 0) order_others(again);  // else nobody but this thread
      passing_ = nullptr;
      (void)any_of(groups_, [&](PassRecord& record) {
        // order: acquire pairs with the release in Pass::end(): what it saw before.
        if (record.slots_[0].epoch.load(sync::order::acquire) == 0) return false;
        record.next_passing_ = std::exchange(passing_, &record);
        return false;
      });
    }

    bool nobody() const noexcept { return passing_ == nullptr; }

    // The slot that blocks it. Null: none.
    PassSlot* blocker(const Retired& item) const noexcept {
      for (PassRecord* each = passing_; each != nullptr; each = each->next_passing_) {
        PassSlot* const slot = PassRegistry::blocker(*each, item.seen_by, item.epoch);
        if (slot != nullptr) return slot;
      }
      return nullptr;
    }

   private:
    static bool passes_fence() noexcept {
      return heavy_fences.load(sync::order::relaxed) == kManyHeavy;  // order: under the mutex
    }
    // Clears the bits of all, and returns them.
    static std::uint64_t begin() noexcept {
      const std::uint64_t looking = kLooking | (passes_fence() ? PassWords::kFenced : 0);
      // order: release pairs with the acquire in appear(): what is hidden.
      return pass_words.present.exchange(looking, sync::order::release);
    }

    // Passes fence where they begin, so half of that is enough to find them; none where they end.
    static void order_others(bool again) noexcept {
      if (passes_fence()) {
        if (again) return sync::asymmetric_fence_heavy();
        return sync::fence(sync::order::seq_cst);  // order: its partner is in appear()
      }
      // order: relaxed, under the mutex
      const std::uint32_t fences = heavy_fences.load(sync::order::relaxed) + 1;
      heavy_fences.store(fences, sync::order::relaxed);  // order: as above
      if (fences == kManyHeavy) {
        // order: relaxed, what begins behind the heavy fence sees it
        pass_words.present.fetch_or(PassWords::kFenced, sync::order::relaxed);
      }
      sync::asymmetric_fence_heavy();
    }

    const std::uint64_t groups_;
    std::uint64_t others_;
    PassRecord* passing_ = nullptr;
  };

  // The slot of `record` that blocks what was hidden from `wanted` in that epoch. Null: none. They
  // are used like a stack, so behind one without a pass there is none.
  static PassSlot* blocker(PassRecord& record, const PassSubject& wanted,
                           std::uint64_t epoch) noexcept {
    for (PassSlot& slot : record.slots_) {
      // order: acquire pairs with the releases in Pass::begin() and Pass::end().
      const std::uint64_t begun = slot.epoch.load(sync::order::acquire);
      if (begun == 0) return nullptr;
      if (begun > epoch) continue;
      // order: acquire pairs with the releases in Pass::begin() and Pass::narrow().
      const void* const subject = slot.subject.load(sync::order::acquire);
      if (subject == nullptr || subject == wanted.subject || subject == wanted.owner) return &slot;
    }
    return nullptr;
  }

  // Hangs on passes of `me`, this thread, what they block, and returns the rest. A pass of this
  // thread sees by itself that it was asked: no fence. And no mutex: threads that wait for it in
  // their passes would be looked at by each thread that has it.
  static Retired* hang_on_own(PassRecord& me, Retired* chain, std::uint64_t epoch) noexcept {
    Retired* rest = nullptr;
    while (chain != nullptr) {
      Retired& item = pop(chain);
      item.epoch = epoch;
      PassSlot* const slot = blocker(me, item.seen_by, epoch);
      if (slot != nullptr) slot->asked.store(true, sync::order::relaxed);  // order: see EP-3
      push(slot != nullptr ? slot->own : rest, item);
    }
    return rest;
  }

  // Returns what can be freed of the chain; hangs the rest on what blocks it. `epoch`: of all; 0:
  // each has its own.
  static Retired* settle(Retired* chain, std::uint64_t epoch) noexcept {
    if (chain == nullptr) return nullptr;
    Look at_all;
    bool again = false;
    Retired* freed = nullptr;
    // A thread that is asked in one round may have ended its pass just before and not have noticed:
    // another round.
    for (bool newly_asked = true; newly_asked;) {
      at_all.look(again);
      if (!again && at_all.nobody()) return chain;
      again = true;
      newly_asked = false;
      Retired* blocked = nullptr;
      while (chain != nullptr) {
        Retired& item = pop(chain);
        if (epoch != 0) item.epoch = epoch;
        PassSlot* const slot = at_all.blocker(item);
        item.blocked_by = slot;  // equivalent(swap): two members of one item
        push(slot != nullptr ? blocked : freed, item);
        // order: relaxed, see EP-3
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
    return any_of(kAllGroups, [&](PassRecord& record) {
      if (&record == &waiter) return false;
      if (blocker(record, *waiter.awaited_, waiter.awaited_epoch_) == nullptr) return false;
      return &record == &target || (record.awaited_ != nullptr && waits_for(record, target));
    });
  }
};

Garbage::~Garbage() {
  if (first_ != nullptr) PassRegistry::retire(first_);
}

PassRecord::PassRecord() noexcept { PassRegistry::add(*this); }

PassRecord::~PassRecord() {
  // equivalent(swap) all: both of this thread alone
  sync::thread_slot<PassRecord*, PassRecord>::get() = nullptr;
  has_ended() = true;
  PassRegistry::remove(*this);
}

PassRecord& PassRecord::enroll() {
  if (has_ended()) {
    misuse(
        "listeners were called after the thread's end, by a destructor of thread-specific data; "
        "call them while the thread runs");
  }
  PassRecord& record = sync::thread_object<PassRecord, Here>::get();
  // equivalent(delete): only speed: the record is looked up by the longer way each time
  sync::thread_slot<PassRecord*, PassRecord>::get() = &record;
  return record;
}

void PassRecord::ended(PassSlot& slot) noexcept { PassRegistry::ended(slot); }

// In a pass that has just begun, whose thread was last found outside of one, or while passes fence.
// `present`: as it was found.
void PassRecord::appear(std::uint64_t present) noexcept {
  if ((present & group_) == 0) {
    // order: acquire pairs with the releases of a Look and of nobody_passes(): what was hidden
    // before the bit was cleared, or found so. A look that finds it set fences, then reads the
    // slot.
    present = pass_words.present.fetch_or(group_, sync::order::acquire);
  }
  if ((present & PassWords::kFenced) == 0) return;
  sync::fence(sync::order::seq_cst);  // order: its partner is in Look::order_others()
  const std::uint64_t epoch = pass_words.epoch.load(sync::order::relaxed);  // order: a guess
  // equivalent(delete negate swap): only speed: when passes leave off fencing is a guess
  quiet_ = epoch == quiet_epoch_ ? quiet_ + 1 : 0;
  quiet_epoch_ = epoch;  // equivalent(delete): only speed: when passes leave off fencing is a guess
  // equivalent(bound negate): only speed: when passes leave off fencing is a guess
  if (quiet_ >= kQuiet) PassRegistry::leave_fences();
}

void await_passes(PassSubject subject) noexcept {
  if (nobody_passes()) return;  // equivalent(delete): only speed: the long way finds nobody either
  const std::uint64_t epoch = PassRegistry::next_epoch();
  PassRegistry::order_passes();
  PassRecord* const me = sync::thread_slot<PassRecord*, PassRecord>::get();
  for (sync::Backoff backoff; PassRegistry::somebody_passes(subject, epoch, me, false);) {
    if (backoff.snooze()) continue;
    // Nobody waits for a thread that has been in no pass.
    if (me != nullptr && !PassRegistry::begin_wait(*me, subject, epoch)) return;
    const auto all_ended = [&] {
      if (!PassRegistry::somebody_passes(subject, epoch, me, true)) return true;
      sync::asymmetric_fence_heavy();
      return !PassRegistry::somebody_passes(subject, epoch, me, false);
    };
    (void)passes_ended().await(all_ended, sync::no_deadline, {}, sync::Spin::never);
    if (me != nullptr) PassRegistry::end_wait(*me);
    return;  // equivalent(delete): the loop's condition is false by then
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
