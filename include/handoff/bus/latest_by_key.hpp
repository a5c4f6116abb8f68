// SPDX-License-Identifier: MIT
//
// A bounded queue that keeps the newest value of each key only.
//
//   LatestByKey<std::string, double> prices(1024);
//   Status s = prices.try_push("ACME", 12.5);      // any thread; replaces one that still waits
//   prices.consume([](const std::string& name, double& price) { show(name, price); });
//
// For: prices, positions, states of many things, of which a slow consumer wants the newest each.
// Not for: values that must all be seen (MessageBus, Channel); one value (Latest).
// Tier: transfer.
// Concurrency: thread-safe. With several consumers each value goes to one of them.
// Order: keys come out in the order in which they came to wait: a newer value takes the place of
//   the one that it replaces. What was done before a push happens before the visit of that value.
// Blocks: push() while full, wait() and wait_and_consume() while empty; all calls for a few
//   instructions of another thread. Keys are compared and copied meanwhile, and values moved, or
//   made of what converts to one; none of these may use this queue. A value that was replaced ends
//   after it. In a visitor push() says `full` and does not wait.
// Allocates: the constructor, unless it is lent storage, and copies of keys.
// Full: capacity() keys wait and this one is none of them. `full`, and the value is still the
//   caller's. A value that was replaced is counted: overwritten().
// Closed: pushes return `closed`; consumers drain, then get `closed`.
// Stopped, timed out: a wait ends with nothing pushed or consumed.
// Exceptions: what a hash, a comparison, a conversion or the copy of a key throws leaves the queue
//   as it was. If a visitor throws, its value is consumed and the rest stay.
// Destructor: destroys the values that are left.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>  // std::hash
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/bus/detail/call_with.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/draining.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class Key, class T, class Hash = std::hash<Key>>
class LatestByKey {
  static_assert(detail::HeldByValue<T> && detail::HeldByValue<Key>,
                "a LatestByKey holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T> &&
                    std::is_nothrow_move_constructible_v<Key>,
                "a LatestByKey's keys and values must move without throwing: mark their move "
                "constructors noexcept, or hold a std::unique_ptr");
  static_assert(std::copy_constructible<Key> && std::equality_comparable<Key>,
                "a LatestByKey copies and compares its keys");

 public:
  // What a value belongs to.
  using key_type = Key;
  using value_type = T;

  // For at least `capacity` keys, rounded up to a power of two, in the caller's storage if there is
  // one: it has storage_bytes(capacity) bytes and lives longer. 0 is misuse; throws
  // std::length_error for more than there can be, and for a storage that is too small. `spin_for`:
  // how long wait() looks before it sleeps; 0: not at all, nanoseconds::max(): never sleeps,
  // negative: about what a sleep costs.
  explicit LatestByKey(std::size_t capacity, std::span<std::byte> storage = {},
                       std::chrono::nanoseconds spin_for = std::chrono::nanoseconds(-1))
      : LatestByKey(capacity, detail::RingStart{}, storage, spin_for) {}
  ~LatestByKey() {
    while (take()) {
    }
  }
  LatestByKey(const LatestByKey&) = delete;
  LatestByKey& operator=(const LatestByKey&) = delete;

  // How many keys have room.
  std::size_t capacity() const noexcept { return entries_.capacity(); }
  static constexpr std::size_t storage_bytes(std::size_t capacity) {
    return Entries::storage_bytes(capacity) + Table::storage_bytes(table_places(capacity));
  }

  // ok, full or closed. What is not ok leaves the value as it was.
  Status try_push(const Key& key, T&& value) { return push_now(key, std::move(value)); }
  template <detail::ConvertsToItem<T> From>
  Status try_push(const Key& key, From&& value) {
    return push_now(key, std::forward<From>(value));
  }
  Status try_push(const Key& key, const T& value)
    requires std::copy_constructible<T>
  {
    return try_push(key, T(value));
  }

  // Waits while it is full. ok, closed, timed_out or stopped.
  Status push(const Key& key, T&& value, const Until& until = {}) {
    return push_waiting(key, std::move(value), until);
  }
  template <detail::ConvertsToItem<T> From>
  Status push(const Key& key, From&& value, const Until& until = {}) {
    return push_waiting(key, std::forward<From>(value), until);
  }
  Status push(const Key& key, const T& value, const Until& until = {})
    requires std::copy_constructible<T>
  {
    return push(key, T(value), until);
  }

  // No push that begins after this succeeds. Wakes all waiting threads. Idempotent.
  void close() noexcept {
    {
      const sync::Lock lock(mutex_);
      closed_ = true;
    }
    consumers_.tell();  // equivalent(swap): two kinds of sleepers that do not know each other
    producers_.tell();
  }

  // Calls visitor(key, value), visitor(key, value, sequence) or visitor(key, value, sequence,
  // end_of_batch) with a const Key& and a T&, which are its own by then, so that it may push;
  // returns how many. At most `most`, and no more than capacity(), so that it ends while producers
  // go on. `sequence` counts the values that were pushed, from 0, replaced ones too. `end_of_batch`
  // says that it is the last of this call; no value has that word if another consumer took the last
  // one meanwhile.
  template <detail::CalledWith<const Key, T> Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::size_t limit = detail::min(most, capacity());
    const detail::Draining draining(this);
    for (std::size_t count = 0; count < limit;) {
      std::optional<Taken> taken = take();
      if (!taken) return count;
      producers_.tell();
      const bool end_of_batch = ++count == limit || taken->was_last;
      detail::call_with(visitor, taken->sequence, end_of_batch, std::as_const(taken->key),
                        taken->value);
      if (end_of_batch) return count;
    }
    return 0;
  }

  // Waits while there is nothing: ok if there is something now, else closed (and drained),
  // timed_out or stopped.
  Status wait(const Until& until = {}) {
    Status status = Status::ok;
    const Status waited = consumers_.wait(
        [&] {
          const sync::Lock lock(mutex_);
          if (head_ == tail_ && closed_) status = Status::closed;
          return head_ != tail_ || closed_;
        },
        spin_for_, until);
    return waited == Status::ok ? status : waited;
  }

  // Waits, then consumes: ok if at least one was visited.
  template <detail::CalledWith<const Key, T> Visitor>
  Status wait_and_consume(Visitor&& visitor, const Until& until = {}) {
    for (;;) {
      const Status status = wait(until);
      if (status != Status::ok) return status;
      if (consume(visitor) != 0) return Status::ok;
    }
  }

  // How many keys wait; how many values were replaced while they waited; whether it is closed. All
  // of the moment.
  [[nodiscard]] std::size_t size() const noexcept {
    const sync::Lock lock(mutex_);
    return static_cast<std::size_t>(tail_ - head_);
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::uint64_t overwritten() const noexcept {
    const sync::Lock lock(mutex_);
    return overwritten_;
  }
  [[nodiscard]] bool closed() const noexcept {
    const sync::Lock lock(mutex_);
    return closed_;
  }

 protected:
  LatestByKey(std::size_t capacity, detail::RingStart start, std::span<std::byte> storage = {},
              std::chrono::nanoseconds spin_for = std::chrono::nanoseconds(-1))
      : entries_(checked(capacity, storage), first_part(capacity, storage)),
        table_(table_places(entries_.capacity()), second_part(capacity, storage)),
        head_(start.position),
        tail_(start.position),
        pushed_(start.position),
        spin_for_(spin_for) {
    sync::spin_policy();  // its first call in a process allocates
  }

 private:
  template <class>
  friend struct detail::Books;

  struct Taken {
    Key key;
    T value;
    std::uint64_t sequence;
    bool was_last;  // nothing was left
  };
  struct Entry {
    sync::raw_cell<Key> key;
    sync::raw_cell<T> value;
    std::size_t hash = 0;
    std::uint64_t sequence = 0;
  };
  // The number of an entry, from 1; 0: none.
  struct Link {
    std::uint32_t entry = 0;
  };
  using Entries = detail::RingSlots<Entry>;
  using Table = detail::RingSlots<Link>;

  static constexpr std::size_t kCapacityMost = std::size_t{1} << 31;

  static std::size_t checked(std::size_t capacity, std::span<std::byte> storage) {
    if (capacity > kCapacityMost) detail::refuse_capacity(capacity, kCapacityMost);
    if (!storage.empty() && storage.size() < storage_bytes(capacity)) {
      detail::refuse_storage(storage.size(), storage_bytes(capacity));
    }
    return capacity;
  }
  static constexpr std::size_t table_places(std::size_t capacity) { return 2 * capacity; }
  static detail::LentBytes first_part(std::size_t capacity, std::span<std::byte> storage) {
    // Of two arguments either may be evaluated first: this one checks, too.
    const std::size_t bytes = Entries::storage_bytes(checked(capacity, storage));
    return {storage.data(), detail::min(storage.size(), bytes)};
  }
  static detail::LentBytes second_part(std::size_t capacity, std::span<std::byte> storage) {
    const std::size_t first = first_part(capacity, storage).size;
    return {storage.data() + first, storage.size() - first};
  }

  // Hashes of neighbouring keys are often neighbours; the table goes by the lowest bits.
  static constexpr std::size_t mixed(std::size_t hash) noexcept {
    // equivalent(return_early) all: only speed: all keys collide
    const std::uint64_t spread = hash * std::uint64_t{0x9E3779B97F4A7C15};
    return static_cast<std::size_t>(spread ^ (spread >> 32));
  }

  // --- With the mutex held. ---

  // Where in the table the key is, or else the free place where it would be.
  std::size_t find(const Key& key, std::size_t hash) const {
    for (std::size_t place = hash;; ++place) {
      const Link link = table_[place];
      if (link.entry == 0) return place;
      const Entry& entry = entries_[link.entry - 1];
      if (entry.hash == hash && entry.key.read() == key) return place;
    }
  }

  // Takes the link out of the table, and moves those up that were found by way of it.
  void unlink(std::size_t place) noexcept {
    const std::size_t mask = table_.capacity() - 1;
    // equivalent(bound): the link is first put where it is
    for (std::size_t other = place + 1; table_[other].entry != 0; ++other) {
      const std::size_t home = entries_[table_[other].entry - 1].hash;
      if (((other - home) & mask) < ((other - place) & mask)) continue;
      table_[place] = table_[other];
      place = other;
    }
    table_[place] = {};
  }

  std::size_t place_of(std::uint32_t number, std::size_t hash) const noexcept {
    std::size_t place = hash;
    // equivalent(delete): never done: the first key is always at its home
    while (table_[place].entry != number) ++place;
    return place;
  }

  std::uint32_t number_of(std::uint64_t position) const noexcept {
    return static_cast<std::uint32_t>(position & (entries_.capacity() - 1)) + 1;
  }

  // --- The calls. ---

  template <class From>
  Status push_waiting(const Key& key, From&& value, const Until& until) {
    Status status = push_now(key, std::forward<From>(value));
    if (status != Status::full || detail::Draining::is_here(this)) return status;
    const Status waited = producers_.wait(
        [&] { return (status = push_now(key, std::forward<From>(value))) != Status::full; },
        std::chrono::nanoseconds(-1), until, "full");
    return waited == Status::ok ? status : waited;
  }

  template <class From>
  Status push_now(const Key& key, From&& value) {
    const std::size_t hash = mixed(Hash{}(key));
    bool is_new = false;
    const Status status = put(key, hash, std::forward<From>(value), is_new);
    if (is_new) consumers_.tell();
    return status;
  }

  // Gives a value, or what becomes one, once it is sure that it is taken.
  static T&& value_of(T&& value) noexcept { return std::move(value); }
  template <detail::ConvertsToItem<T> From>
  static T value_of(From&& value) {
    return T(std::forward<From>(value));
  }

  template <class From>
  Status put(const Key& key, std::size_t hash, From&& value, bool& is_new) {
    std::optional<T> replaced;  // ends after the lock
    const sync::Lock lock(mutex_);
    if (closed_) return Status::closed;
    const std::size_t place = find(key, hash);
    if (const Link link = table_[place]; link.entry != 0) {
      Entry& waits = entries_[link.entry - 1];
      auto&& newer = value_of(std::forward<From>(value));  // may throw: nothing has changed yet
      replaced.emplace(std::move(waits.value.write()));
      waits.value.destroy();
      // equivalent(swap): two members of an entry, under the mutex
      waits.value.construct(std::move(newer));
      waits.sequence = pushed_++;
      ++overwritten_;
      return Status::ok;
    }
    if (tail_ - head_ == capacity()) return Status::full;
    Entry& entry = entries_[tail_];
    auto&& newest = value_of(std::forward<From>(value));  // may throw: nothing has changed yet
    entry.key.construct(key);  // may throw, as above
    // equivalent(swap): two members of an entry, under the mutex
    entry.value.construct(std::move(newest));
    entry.hash = hash;
    entry.sequence = pushed_++;  // equivalent(swap): an entry and its link, both under the mutex
    table_[place].entry = number_of(tail_);
    ++tail_;
    is_new = true;
    return Status::ok;
  }

  std::optional<Taken> take() noexcept {
    std::optional<Taken> taken;
    const sync::Lock lock(mutex_);
    if (head_ == tail_) return taken;
    Entry& entry = entries_[head_];
    unlink(place_of(number_of(head_), entry.hash));
    ++head_;
    taken.emplace(Taken{std::move(entry.key.write()), std::move(entry.value.write()),
                        entry.sequence, head_ == tail_});
    // equivalent(swap): two parts of an entry that were moved from, under the mutex
    entry.key.destroy();
    entry.value.destroy();
    return taken;
  }

  mutable sync::Mutex mutex_;  // over all that follows but the last three
  Entries entries_;  // a ring: keys in the order in which they came
  Table table_;
  std::uint64_t head_;
  std::uint64_t tail_;
  std::uint64_t pushed_;  // the next value's sequence
  std::uint64_t overwritten_ = 0;
  bool closed_ = false;
  detail::Parked consumers_;
  detail::Parked producers_;
  const std::chrono::nanoseconds spin_for_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
