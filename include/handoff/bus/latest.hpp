// SPDX-License-Identifier: MIT
//
// The newest value of something, for any number of writers and readers.
//
//   Latest<Pose> pose;
//   Status s = pose.store(Pose{1, 2});                          // any thread
//   s = pose.read([](const Pose& now) { steer(now); });         // any thread; in its place
//   std::optional<Pose> copy = pose.load();                     // any thread
//   for (std::uint64_t seen = 0; pose.read_newer(seen, draw) == Status::ok;) { }  // waits
//
// For: a sensor's reading, a configuration, a price: what is older is of no use to anybody. Not
// for: values that must all be seen (Channel, Broadcast); the newest value of each key
// (LatestByKey).
// Scheme: slots, and one word that names the slot of the newest value and counts its readers so
//   far. A reader adds itself to that word and has the slot in one step; it says goodbye in the
//   slot. A writer fills a slot that nobody uses and exchanges the word; the last reader to leave
//   the old slot gives it back. So a value is read where it lies, of any type that moves, however
//   long a reader takes, and no access races: a triple buffer has that for one reader only, and a
//   sequence lock reads memory that is being written.
// Tier: transfer.
// Concurrency: thread-safe. A visitor may store, and read again.
// Order: values replace one another in one order, which all readers see; their versions count up
//   from 1. What was done before a store happens before the visits of its value.
// Blocks: read_newer() and wait_newer(), as long as there is nothing newer. Reads take a fixed
//   number of steps; a store is repeated only because another store or read succeeded. If more than
//   `at_once` calls are under way, visitors included, a store may spin and yield until one is done.
// Allocates: the constructor, unless it is lent storage.
// Full: never. A value that is replaced before anybody read it is counted: overwritten().
// Closed: store() returns `closed`, and the value is still the caller's, unconverted. The last one
//   stays to be read; waits end with `closed` once there is nothing newer, nor being converted.
// Stopped, timed out: nothing was read.
// Exceptions: a copy or a conversion that throws does so before anything is changed. If a visitor
//   throws, its value counts as read.
// Destructor: destroys the value. A replaced one ends with its last reader.
// Proof: docs/design/broadcast.md.
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/bus/detail/call_with.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/relaxed.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// The slots that `at_once` calls may need: each holds one that was replaced, and a store one
// more that it fills. 0 is misuse. Throws std::length_error for more than 31.
std::size_t latest_slots(std::size_t at_once);

}  // namespace detail

template <class T>
class Latest {
  static_assert(detail::HeldByValue<T>,
                "a Latest holds a value, not a reference, whose destructor does not throw");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "a Latest's value must move without throwing: mark its moves noexcept, or hold a "
                "std::unique_ptr to it");

 public:
  using value_type = T;

  // For `at_once` calls at a time, 31 at most, in the caller's storage if there is one: it has
  // storage_bytes(at_once) bytes and lives longer. 0 is misuse; throws std::length_error for more
  // than 31, and for a storage that is too small. `spin_for`: how long a wait looks before it
  // sleeps. 0: not at all; nanoseconds::max(): it never sleeps; negative: about what a sleep costs.
  explicit Latest(std::size_t at_once = 8, std::span<std::byte> storage = {},
                  std::chrono::nanoseconds spin_for = std::chrono::nanoseconds(-1))
      : Latest(at_once, detail::RingStart{}, storage, spin_for) {}
  ~Latest() {
    // order: relaxed, nobody else is left.
    const std::size_t last = index_of(current_.load(sync::order::relaxed));
    if (last != kNone) slots_[last].kept.destroy();
  }
  Latest(const Latest&) = delete;
  Latest& operator=(const Latest&) = delete;

  // How many bytes a lent storage needs.
  static std::size_t storage_bytes(std::size_t at_once = 8) {
    return Slots::storage_bytes(detail::latest_slots(at_once));
  }

  // ok or closed; then the value is as it was.
  Status store(T&& value) noexcept {
    if (closed()) return Status::closed;
    const std::size_t mine = take_slot();
    slots_[mine].kept.construct(std::move(value));
    if (replace(mine, false)) return Status::ok;
    value = std::move(slots_[mine].kept.write().value);
    give_back(mine);
    return Status::closed;
  }
  // What becomes a value where it lies: one that has begun before the close is accepted.
  template <detail::ConvertsToItem<T> From>
  Status store(From&& value) noexcept(std::is_nothrow_constructible_v<T, From>) {
    const Converting here(*this);
    if (closed()) return Status::closed;
    const std::size_t mine = take_slot();
    detail::call_or([&] { slots_[mine].kept.construct(std::forward<From>(value)); },
                    [&]() noexcept { set_free(mine); });
    (void)replace(mine, true);
    return Status::ok;
  }
  Status store(const T& value) noexcept(std::is_nothrow_copy_constructible_v<T>)
    requires std::copy_constructible<T>
  {
    return store(T(value));
  }

  // Calls visitor(value) or visitor(value, version) with the newest value, a const T&, which stays
  // there meanwhile. A visitor(value, version, end_of_batch), as those of a Broadcast, is told
  // true. ok; empty if nothing was stored yet, closed if nothing ever will be.
  template <detail::CalledWith<const T> Visitor>
  Status read(Visitor&& visitor) {
    std::uint64_t seen = 0;
    return visit(visitor, seen);
  }

  // A copy of it, if anything was stored.
  [[nodiscard]] std::optional<T> load()
    requires std::copy_constructible<T>
  {
    std::optional<T> copy;
    (void)read([&](const T& value) { copy.emplace(value); });
    return copy;
  }

  // Waits while there is nothing newer than the version `seen`, then reads as above and sets
  // `seen`. ok, closed, timed_out or stopped.
  template <detail::CalledWith<const T> Visitor>
  Status read_newer(std::uint64_t& seen, Visitor&& visitor, const Until& until = {}) {
    const Status status = wait_newer(seen, until);
    return status == Status::ok ? visit(visitor, seen) : status;
  }

  // The wait alone.
  Status wait_newer(std::uint64_t seen, const Until& until = {}) {
    Status status = Status::ok;
    const auto ended = [&] {
      // order: acquire pairs with the release in tell_of(): a read that follows finds that value.
      if (is_newer(newest_.load(sync::order::acquire), seen)) return true;
      if (!over()) return false;
      // The last store may not have told of its value yet.
      if (!is_newer(version_now(), seen)) status = Status::closed;
      return true;
    };
    const Status waited = readers_.wait(ended, spin_for_, until);
    return waited == Status::ok ? status : waited;
  }

  // No store that begins after this succeeds. Wakes all waiting threads. Idempotent.
  void close() noexcept {
    // order: release pairs with the acquire in closed(): what the closer did is seen.
    current_.fetch_or(kClosed, sync::order::release);
    end_if_over();
  }
  bool closed() const noexcept {
    // order: acquire pairs with the release in close().
    return (current_.load(sync::order::acquire) & kClosed) != 0;
  }

  // How many values were stored; the version of the newest, or of the one before it while its store
  // is under way.
  [[nodiscard]] std::uint64_t version() const noexcept {
    // order: acquire, as in wait_newer().
    return newest_.load(sync::order::acquire);
  }

  // How many values were replaced before anybody read them; exact at rest.
  [[nodiscard]] std::uint64_t overwritten() const noexcept { return overwritten_.get(); }

 protected:
  // The version before the first one.
  Latest(std::size_t at_once, detail::RingStart start, std::span<std::byte> storage = {},
         std::chrono::nanoseconds spin_for = std::chrono::nanoseconds(-1))
      : slots_(detail::latest_slots(at_once), {storage.data(), storage.size()}),
        start_(start.position),
        spin_for_(spin_for),
        current_(kNone),
        newest_(start.position),
        free_(~std::uint64_t{0} >> (64 - slots_.capacity())) {
    sync::spin_policy();  // its first call in a process allocates
  }

 private:
  template <class>
  friend struct detail::Books;

  // In current_: the slot, whether it is closed, and how many came to use the slot.
  using Word = std::uint64_t;
  static constexpr Word kNone = 127;  // the slot's number, if there is none
  static constexpr Word kClosed = 128;
  static constexpr Word kPin = 256;

  struct Kept {
    template <class From>
      requires(!std::is_same_v<std::remove_cvref_t<From>, Kept>)
    explicit Kept(From&& stored) noexcept(std::is_nothrow_constructible_v<T, From>)
        : value(std::forward<From>(stored)) {}
    std::uint64_t version = 0;
    T value;
  };
  struct ValueSlot {
    // In units of kPin: how many readers left; once it is replaced, less those that came.
    sync::atomic<Word> left{0};
    sync::atomic<bool> was_read{false};
    sync::raw_cell<Kept> kept;
  };
  using Slots = detail::RingSlots<ValueSlot>;

  static constexpr std::size_t index_of(Word word) noexcept { return word & kNone; }
  static constexpr Word pins_of(Word word) noexcept { return word & ~(kPin - 1); }
  static constexpr bool is_newer(std::uint64_t version, std::uint64_t seen) noexcept {
    return static_cast<std::int64_t>(version - seen) > 0;
  }

  // --- Pins. ---

  // The current slot stays as it is until unpin().
  Word pin() noexcept {
    // order: acquire pairs with the release in replace(): the value is there, or, for a bit that
    // close() set, what the closer did.
    return current_.fetch_add(kPin, sync::order::acquire);
  }
  void unpin(std::size_t index) noexcept {
    if (index == kNone) return;
    // order: release, this thread has read what it read; acquire, so have all others if it is the
    // last one. Partner is the same operation, and the one in replaced().
    if (slots_[index].left.fetch_add(kPin, sync::order::acq_rel) + kPin == 0) retire(index);
  }

  class Pinned {
   public:
    Pinned(Latest& latest, std::size_t index) noexcept : latest_(latest), index_(index) {}
    ~Pinned() { latest_.unpin(index_); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

   private:
    Latest& latest_;
    const std::size_t index_;
  };

  // --- Slots. ---

  std::size_t take_slot() noexcept {
    sync::Backoff backoff;
    // order: relaxed, the exchange below looks again.
    std::uint64_t free = free_.load(sync::order::relaxed);
    for (;;) {
      if (free == 0) [[unlikely]] {
        backoff.snooze_on();
        // equivalent(delete): only speed: how long a pause is
        free = free_.load(sync::order::relaxed);  // order: as above
        continue;
      }
      // order: acquire pairs with the release in give_back(): the slot is bare.
      if (free_.compare_exchange_weak(free, free & (free - 1), sync::order::acquire,
                                      sync::order::relaxed)) {
        return static_cast<std::size_t>(std::countr_zero(free));
      }
    }
  }
  void give_back(std::size_t index) noexcept {
    slots_[index].kept.destroy();
    set_free(index);
  }
  void set_free(std::size_t index) noexcept {
    // order: release pairs with the acquire in take_slot().
    free_.fetch_or(std::uint64_t{1} << index, sync::order::release);
  }
  // Takes back a slot that was replaced and that nobody uses any more.
  void retire(std::size_t index) noexcept {
    ValueSlot& slot = slots_[index];
    // order: relaxed, ordered by `left`. Where nobody but the writer came, nobody has written it.
    if (!slot.was_read.load(sync::order::relaxed)) overwritten_.add(1);
    slot.was_read.store(false, sync::order::relaxed);  // order: relaxed, give_back() publishes it
    give_back(index);
  }

  // --- Stores. ---

  // A store whose value is converted, and so cannot be given back. If it does not see the close,
  // the closer sees it, and leaves the end to it: the partner of each of these fences is any other
  // one of them.
  class Converting {
   public:
    explicit Converting(Latest& latest) noexcept : latest_(latest) {
      latest.converting_.fetch_add(1, sync::order::relaxed);  // order: relaxed, see the fence
      sync::fence(sync::order::seq_cst);  // order: partner is the second one in end_if_over()
    }
    ~Converting() {
      // order: release pairs with the acquire in end_if_over(): what was stored.
      latest_.converting_.fetch_sub(1, sync::order::release);
      latest_.end_if_over();
    }
    Converting(const Converting&) = delete;
    Converting& operator=(const Converting&) = delete;

   private:
    Latest& latest_;
  };

  // Called by the thread that closed, and by each that was converting.
  void end_if_over() noexcept {
    // order: partner is this same one of another thread: of the thread that closed and the one that
    // was converting last, one sees both.
    sync::fence(sync::order::seq_cst);
    if (!closed()) return;
    sync::fence(sync::order::seq_cst);  // order: partner is the one in Converting
    // order: acquire pairs with the release in Converting.
    if (converting_.load(sync::order::acquire) != 0) return;
    // order: release pairs with the acquire in over().
    over_.store(true, sync::order::release);
    readers_.tell();
  }
  bool over() const noexcept {
    // order: acquire pairs with the release in end_if_over(): no store succeeds any more.
    return over_.load(sync::order::acquire);
  }

  // Makes the filled slot the current one; false once closed, unless it was `accepted` before.
  bool replace(std::size_t mine, bool accepted) noexcept {
    for (;;) {
      const Word before = pin();
      const std::size_t old = index_of(before);
      if ((before & kClosed) != 0 && !accepted) {
        // equivalent(delete): once closed it is never replaced; the destructor asks for no readers
        unpin(old);
        return false;
      }
      // The old slot is ours to read, and nobody else's to use again, while it is pinned: the same
      // number in the word is the same value.
      const std::uint64_t version = (old == kNone ? start_ : slots_[old].kept.read().version) + 1;
      slots_[mine].kept.write().version = version;
      Word now = before + kPin;
      while (index_of(now) == old && (accepted || (now & kClosed) == 0)) {
        // order: release pairs with the acquire in pin(): the value and its version are there.
        if (current_.compare_exchange_weak(now, mine | (now & kClosed), sync::order::release,
                                           sync::order::relaxed)) {
          // equivalent(swap): a reader of the new value does not know the slot of the old one
          replaced(old, pins_of(now));
          tell_of(version);
          return true;
        }
      }
      unpin(old);
    }
  }

  // `came`: the threads that pinned it, this one included.
  void replaced(std::size_t old, Word came) noexcept {
    if (old == kNone) return;
    const Word others = came - kPin;
    // order: as in unpin(). If nobody else came, nobody can be there.
    if (others == 0 || slots_[old].left.fetch_sub(others, sync::order::acq_rel) == others) {
      retire(old);
    }
  }

  void tell_of(std::uint64_t version) noexcept {
    // order: relaxed, the exchange decides.
    std::uint64_t told = newest_.load(sync::order::relaxed);
    // order: release pairs with the acquire in wait_newer(); relaxed on failure, it looks again.
    while (
        is_newer(version, told) &&
        !newest_.compare_exchange_weak(told, version, sync::order::release, sync::order::relaxed)) {
    }
    readers_.tell();
  }

  // --- Reads. ---

  template <class Visitor>
  Status visit(Visitor& visitor, std::uint64_t& seen) {
    std::size_t index = index_of(pin());
    if (index == kNone) {
      if (!over()) return Status::empty;
      index = index_of(pin());  // the last store may have come between
      if (index == kNone) return Status::closed;
    }
    const Pinned pinned(*this, index);
    ValueSlot& slot = slots_[index];
    // order: relaxed, ordered by `left`. It is written once, so that readers share its line.
    if (!slot.was_read.load(sync::order::relaxed)) {
      slot.was_read.store(true, sync::order::relaxed);  // order: as above
    }
    const Kept& kept = slot.kept.read();
    seen = kept.version;
    detail::call_with(visitor, kept.version, true, kept.value);
    return Status::ok;
  }

  std::uint64_t version_now() noexcept {
    const std::size_t index = index_of(pin());
    if (index == kNone) return start_;
    const Pinned pinned(*this, index);
    return slots_[index].kept.read().version;
  }

  Slots slots_;
  const std::uint64_t start_;
  const std::chrono::nanoseconds spin_for_;

  alignas(sync::destructive_span) sync::atomic<Word> current_;
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> newest_;  // version; waits look here
  sync::atomic<bool> over_{false};  // no store succeeds; beside newest_, where waits look anyway
  detail::Parked readers_;
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> free_;  // a bit for each slot
  sync::relaxed<std::uint64_t> overwritten_;
  sync::atomic<std::uint32_t> converting_{0};
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
