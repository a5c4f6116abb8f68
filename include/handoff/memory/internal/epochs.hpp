// SPDX-License-Identifier: MIT
//
// Passes: how a thread walks over listeners without a lock while others take listeners away.
//
// A thread that walks says so in its own record: two plain stores when a pass begins, one when it
// ends. A thread that takes something away hides it first, then makes the kernel order all CPUs
// (the heavy half of the asymmetric fence), then reads the records: what no pass from before can
// see is freed at once; the rest hangs on one of those passes after the other until the last has
// ended. What a thread takes away in a pass of its own needs no fence before that pass ends.
// Threads that were found outside of passes are marked absent, and no fence is needed for them
// until their next pass. Where that becomes frequent, passes fence themselves for a while. The same
// records answer remove_and_wait(). The proof is in docs/design/callback_list.md.
// For: the lists of event/. Not for: users.
// Concurrency: everything by any thread. Blocks: await_passes(), and for some instructions what
// retires. Allocates: nothing. Throws: nothing.
// Source: epochs are K. Fraser's (2004), asymmetric fences for readers are those of liburcu.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/internal/single_threaded.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class PassRecord;
}
namespace sync {
HANDOFF_THREAD_SLOT(handoff::detail::PassRecord*, handoff::detail::PassRecord);
}

namespace detail {

// What is asked for when passes are compared. A pass over a thing of `owner` may come to be one
// over `subject`, so both stand in its way.
struct PassSubject {
  const void* subject = nullptr;
  const void* owner = nullptr;
};

struct PassSlot;

// Something hidden from new passes that is freed once no older one is left.
struct Retired {
  using Free = void (*)(void* object) noexcept;

  Retired* next = nullptr;
  PassSubject seen_by;
  std::uint64_t epoch = 0;
  PassSlot* blocked_by = nullptr;  // one of those that do; it hangs there
  void* object = nullptr;
  Free free = nullptr;
};

// A chain of things to retire, gathered under a lock and retired after it. Each comes once in its
// life.
class Garbage {
 public:
  template <class T>
  void add(T& object, Retired& retired, PassSubject seen_by, Retired::Free free) noexcept {
    retired.seen_by = seen_by;
    retired.object = &object;
    retired.free = free;
    *std::exchange(end_, &retired.next) = &retired;
    sync::given(&object);
  }
  Garbage() noexcept = default;
  Garbage(const Garbage&) = delete;
  Garbage& operator=(const Garbage&) = delete;

  // Frees them in their order, now or with the end of the passes that may see them. The caller
  // holds no lock that a freed thing may want.
  ~Garbage();

 private:
  Retired* first_ = nullptr;
  Retired** end_ = &first_;
};

// Returns when no other thread is in a pass over `subject` that began before. This thread's own
// passes do not count. Nor are those threads waited for that wait, directly or not, for this one:
// then it returns at once.
void await_passes(PassSubject subject) noexcept;

// Whether no thread is in a pass, so that nobody can see any more what was hidden before this. A
// false may be out of date.
inline bool nobody_passes() noexcept;

// One pass of a thread.
struct PassSlot {
  sync::atomic<std::uint64_t> epoch{0};  // 0: no pass
  sync::atomic<const void*> subject{nullptr};  // null: everything
  sync::atomic<bool> asked{false};  // somebody wants to know when it ends
  Retired* own = nullptr;  // what its own thread hung there; of that thread alone
  Retired* pending = nullptr;  // what others did; under the registry's mutex
};

// What one thread is passing over.
class PassRecord {
 public:
  // Passes inside passes that are told apart; those inside the last one count as passes over
  // everything.
  static constexpr std::size_t kSlots = 7;

  PassRecord() noexcept;
  ~PassRecord();
  PassRecord(const PassRecord&) = delete;
  PassRecord& operator=(const PassRecord&) = delete;

  static PassRecord& mine() {
    PassRecord* const record = sync::thread_slot<PassRecord*, PassRecord>::get();
    return record != nullptr ? *record : enroll();
  }

 private:
  friend class Pass;
  template <class>
  friend struct Books;
  friend class PassRegistry;

  static PassRecord& enroll();
  static void ended(PassSlot& slot) noexcept;
  void appear(std::uint64_t present) noexcept;

  alignas(sync::destructive_span) std::array<PassSlot, kSlots> slots_;
  std::uint32_t depth_ = 0;  // of this thread alone, like the next two
  std::uint32_t quiet_ = 0;  // passes with full fences since something was retired
  std::uint64_t quiet_epoch_ = 0;
  std::uint64_t group_ = 0;  // its bit in PassWords::present; never changed

  // Under the registry's mutex.
  PassRecord* next_ = nullptr;
  PassRecord* previous_ = nullptr;
  PassRecord* next_passing_ = nullptr;  // used by a look at the threads in passes
  const PassSubject* awaited_ = nullptr;  // what this thread is in await_passes() for
  std::uint64_t awaited_epoch_ = 0;
};

// What passes share with threads that hide something. In one line: a pass reads both.
struct alignas(sync::cache_line) PassWords {
  // One is added whenever something is hidden that a pass may see.
  sync::atomic<std::uint64_t> epoch{1};
  // A bit for each group of threads: one of them may be in a pass. Set by a thread that begins one
  // and finds it clear, cleared by a thread that looks at its record. And kFenced.
  sync::atomic<std::uint64_t> present{0};

  // In `present`: passes begin with a full fence, while that costs less than the heavy fences of
  // the looks.
  static constexpr std::uint64_t kFenced = std::uint64_t{1} << 62;
};
extern PassWords pass_words;

inline bool nobody_passes() noexcept {
  // order: relaxed, a hint: somebody, and the line of memory stays where it is.
  std::uint64_t nobody = pass_words.present.load(sync::order::relaxed);
  if ((nobody & ~PassWords::kFenced) != 0) return false;
  if (sync::single_threaded()) return true;  // and nobody can begin one
  // order: acquire pairs with the releases of a Look: the passes that it found ended come before;
  // release with the acquire in appear(): a pass that begins later sees what is hidden.
  return pass_words.present.compare_exchange_strong(nobody, nobody, sync::order::acq_rel,
                                                    sync::order::relaxed);
}

// This thread's presence in a list, from the constructor to the destructor.
class [[nodiscard]] Pass {
 public:
  explicit Pass(const void* subject) : record_(PassRecord::mine()), depth_(record_.depth_++) {
    begin(subject);
  }
  ~Pass() {
    record_.depth_ = depth_;  // known, so the next pass need not wait for a subtraction
    end();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Whether this thread is in a pass over `subject`, or in too many to say.
  static bool inside(const void* subject) {
    const PassRecord& record = PassRecord::mine();
    for (const PassSlot& slot : record.slots_) {
      // order: relaxed, only this thread writes them.
      if (slot.epoch.load(sync::order::relaxed) == 0) continue;
      const void* const over = slot.subject.load(sync::order::relaxed);  // order: as above
      if (over == subject || over == nullptr) return true;
    }
    return false;
  }

  // From here on over this part of what it was over.
  void narrow(const void* subject) noexcept {
    if (depth_ + 1 >= PassRecord::kSlots) return;
    tell();
    // order: release pairs with the acquire in PassRegistry::blocker(): what this pass did to the
    // rest comes before.
    slot().subject.store(subject, sync::order::release);
  }

  // As if ended and begun anew over `subject`; cheap while nothing is hidden anywhere.
  void renew(const void* subject) noexcept {
    // order: relaxed, twice: begin() has acquired this epoch, or will acquire a newer one; the own
    // epoch only this thread writes.
    if (pass_words.epoch.load(sync::order::relaxed) == slot().epoch.load(sync::order::relaxed)) {
      narrow(subject);
    } else {
      end();
      begin(subject);
    }
  }

 private:
  PassSlot& slot() const noexcept {
    constexpr std::uint32_t last = PassRecord::kSlots - 1;
    return record_.slots_[depth_ < last ? depth_ : last];
  }

  void begin(const void* subject) noexcept {
    constexpr std::uint32_t last = PassRecord::kSlots - 1;
    if (depth_ > last) [[unlikely]]
      return;
    // order: release, twice: pair with the acquires in PassRegistry::blocker(). A thread that sees
    // this subject sees the end of the pass before; one that sees this epoch sees this subject or a
    // later one.
    slot().subject.store(depth_ == last ? nullptr : subject, sync::order::release);
    // order: acquire pairs with the addition in PassRegistry::next_epoch(): a pass of a later epoch
    // sees everything hidden that was hidden before.
    slot().epoch.store(pass_words.epoch.load(sync::order::acquire), sync::order::release);
    sync::asymmetric_fence_light();
    // order: acquire pairs with the releases of looks, which leave_fences() hands on: what they hid
    // while passes had fences. The rest is ordered by the fences: the thread that clears the bit
    // sees this pass, or this sees it cleared.
    const std::uint64_t present = pass_words.present.load(sync::order::acquire);
    if ((present & (record_.group_ | PassWords::kFenced)) != record_.group_) [[unlikely]] {
      record_.appear(present);
    }
  }

  void end() noexcept {
    if (depth_ >= PassRecord::kSlots) [[unlikely]]
      return;
    tell();
    // order: release pairs with the acquire in PassRegistry::blocker(): the pass is over.
    slot().epoch.store(0, sync::order::release);
    sync::asymmetric_fence_light();
    // order: relaxed, ordered by the fences: the asker sees the pass ended, or this sees it.
    if (slot().asked.load(sync::order::relaxed)) [[unlikely]]
      PassRecord::ended(slot());
  }

  // The sanitizer, of what it was over: that may end from here on.
  [[gnu::always_inline]] void tell() const noexcept {
#if defined(HANDOFF_SANITIZES_THREADS)
    // order: relaxed, only this thread writes it.
    const void* const subject = slot().subject.load(sync::order::relaxed);
    if (subject != nullptr) sync::given(subject);
#endif
  }

  PassRecord& record_;
  const std::uint32_t depth_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
