// SPDX-License-Identifier: MIT
//
// From keys to their lists of listeners: what EventDispatcher and EventQueue look up in a pass.
//
// An open hash table that only grows while it may be read: a bucket is filled once, key first, list
// last. A full table is replaced by a larger one, without the keys that have lost all listeners.
// Not for: users.
// Concurrency: find() in a pass over this map, by any thread; add() and close() under a lock of
// their own. Keys are hashed and compared outside the lock in find(), inside it in add(); they must
// not use the map, and not throw.
// Allocates, throws: add(): std::bad_alloc, what copying a key throws.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Key, class Hash>
class ListenerMap {
 public:
  // `owner`: what passes that look up are over.
  explicit ListenerMap(const void* owner) noexcept : owner_(owner) {}

  // For a pass over the owner, which may then narrow to the list. Null: no such key.
  ListenerList* find(const Key& key) const {
    Table* const table = current();
    if (table == nullptr) return nullptr;
    ListenerList* const list = table->find(key);
    sync::given(table);
    return list;
  }

  void add(const Key& key, const ListenerRef& listener, AddedAt place, const Listener* before,
           Garbage& garbage) {
    const sync::Lock lock(mutex_);
    list_of(key, garbage).add(listener, place, before, garbage);
  }

  // Calls `visitor(key, list)` for each key there is, in a pass over the owner.
  template <class Visitor>
  void for_each(Visitor&& visitor) const {
    Table* const table = current();
    if (table == nullptr) return;
    for (Bucket& bucket : *table) {
      if (bucket.list() != nullptr) visitor(bucket.key.read(), *bucket.list());
    }
  }

  // Hides everything, also from passes under way.
  void close(Garbage& garbage) noexcept {
    const sync::Lock lock(mutex_);
    // order: relaxed, under the mutex
    Table* const table = table_.load(sync::order::relaxed);
    if (table == nullptr) return;
    for (Bucket& bucket : *table) {
      if (bucket.own_list() != nullptr) bucket.own_list()->close(garbage);
    }
    // order: relaxed, null leads nowhere
    table_.store(nullptr, sync::order::relaxed);
    garbage.add(*table, table->retired, {owner_, nullptr}, &Table::free);
  }

 private:
  struct Bucket {
    sync::atomic<ListenerList*> filled{nullptr};  // null: no key yet
    sync::raw_cell<Key> key;

    ListenerList* list() const noexcept {
      // order: acquire pairs with the release in fill(): the key is whole.
      return filled.load(sync::order::acquire);
    }
    // The same for a thread that holds the mutex under which it was filled, or is the last to see
    // it.
    ListenerList* own_list() const noexcept {
      return filled.load(sync::order::relaxed);  // order: relaxed, see above
    }
    void fill(const Key& with, ListenerList& list) {
      key.construct(with);
      filled.store(&list, sync::order::release);  // order: release pairs with list()
    }
    // In a table that nobody sees yet.
    void fill_first(const Key& with, ListenerList& list) {
      key.construct(with);
      // order: relaxed, grow() releases the table
      filled.store(&list, sync::order::relaxed);
    }
  };

  struct Table {
    explicit Table(unsigned power) noexcept : bits(power) {}

    static std::size_t bytes(unsigned bits) noexcept {
      return kHeader + (std::size_t{1} << bits) * sizeof(Bucket);
    }
    static Table* make(unsigned bits) {
      auto* const table = ::new (sync::allocate(bytes(bits), kAlignment)) Table(bits);
      std::uninitialized_default_construct_n(table->begin(), table->size());
      return table;
    }
    static void free(void* object) noexcept {
      auto* const table = static_cast<Table*>(object);
      sync::taken(table);
      for (Bucket& bucket : *table) {
        if (bucket.own_list() != nullptr) bucket.key.destroy();
      }
      const unsigned power = table->bits.read();
      std::destroy_n(table->begin(), table->size());
      std::destroy_at(table);
      sync::deallocate(table, bytes(power), kAlignment);
    }

    std::size_t size() const noexcept { return std::size_t{1} << bits.read(); }
    Bucket* begin() noexcept {
      return reinterpret_cast<Bucket*>(reinterpret_cast<std::byte*>(this) + kHeader);
    }
    Bucket* end() noexcept { return begin() + size(); }

    // The bucket that holds the key, or the free one where it belongs. There is always a free one.
    // For a thread that may ask for own_list().
    Bucket& at(const Key& key) {
      for (std::size_t i = first_for(key);; i = (i + 1) & (size() - 1)) {
        Bucket& bucket = begin()[i];
        if (bucket.own_list() == nullptr || bucket.key.read() == key) return bucket;
      }
    }
    // What is in it, by one look: an event in a queue waits for this.
    ListenerList* find(const Key& key) {
      for (std::size_t i = first_for(key);; i = (i + 1) & (size() - 1)) {
        Bucket& bucket = begin()[i];
        ListenerList* const list = bucket.list();
        if (list == nullptr || bucket.key.read() == key) return list;
      }
    }
    std::size_t first_for(const Key& key) const {
      // A hash may be the number itself: multiplying spreads it over the high bits (Knuth).
      const std::uint64_t mixed = std::uint64_t{Hash{}(key)} * 0x9E37'79B9'7F4A'7C15;
      return mixed >> (64 - bits.read());
    }

    const sync::cell<unsigned> bits;  // 2^bits buckets
    std::size_t used = 0;
    Retired retired;
  };

  static constexpr std::size_t kAlignment = detail::max(alignof(Table), alignof(Bucket));
  static constexpr std::size_t kHeader = (sizeof(Table) + kAlignment - 1) / kAlignment * kAlignment;
  static constexpr unsigned kFirstBits = 3;

  struct FreeTable {
    void operator()(Table* table) const noexcept { Table::free(table); }
  };

  // Null: no key yet.
  Table* current() const noexcept {
    return table_.load(sync::order::acquire);  // order: acquire pairs with the release in grow()
  }

  // The caller holds mutex_.
  ListenerList& list_of(const Key& key, Garbage& garbage) {
    // order: relaxed, under the mutex
    Table* table = table_.load(sync::order::relaxed);
    if (table != nullptr) {
      if (ListenerList* const list = table->at(key).own_list()) return *list;
    }
    if (table == nullptr || (table->used + 1) * 4 > table->size() * 3) table = grow(garbage);
    ListenerList* const list = ListenerList::make(owner_);
    call_or([&] { table->at(key).fill(key, *list); }, [list] { list->release(); });
    ++table->used;
    return *list;
  }

  // A table with room for one key more; without those whose lists are empty.
  Table* grow(Garbage& garbage) {
    // order: relaxed, under the mutex
    Table* const old = table_.load(sync::order::relaxed);
    const auto wanted = [](Bucket& bucket) {
      return bucket.own_list() != nullptr && !bucket.own_list()->empty();
    };
    std::size_t count = 1;
    if (old != nullptr) {
      for (Bucket& bucket : *old) count += wanted(bucket);
    }
    const auto bits = detail::max(kFirstBits, static_cast<unsigned>(std::bit_width(count * 2 - 1)));
    std::unique_ptr<Table, FreeTable> made(Table::make(bits));
    if (old != nullptr) {
      for (Bucket& bucket : *old) {
        if (!wanted(bucket)) continue;
        made->at(bucket.key.read()).fill_first(bucket.key.read(), *bucket.own_list());
        ++made->used;
      }
    }
    Table* const table = made.release();
    table_.store(table, sync::order::release);  // order: release pairs with the acquire in find()
    if (old != nullptr) {
      for (Bucket& bucket : *old) {
        // Not asked whether it is empty: another may have become so since it was taken over.
        if (bucket.own_list() == nullptr) continue;
        if (table->at(bucket.key.read()).own_list() != nullptr) continue;
        bucket.own_list()->close(garbage);
      }
      garbage.add(*old, old->retired, {owner_, nullptr}, &Table::free);
    }
    return table;
  }

  const void* const owner_;
  sync::atomic<Table*> table_{nullptr};
  sync::Mutex mutex_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
