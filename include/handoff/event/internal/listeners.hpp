// SPDX-License-Identifier: MIT
//
// A list of listeners whatever their signature: what CallbackList and EventDispatcher are made of.
//
// Passes read an array of listeners that never changes in what they may look at. A listener at the
// end is added behind what running passes look at; another place, or a full array, makes a new
// array. The front of a long list lies in leaves, which arrays share, so that a new one copies
// little. A removed listener's call becomes null, and so does its entry.
// docs/design/callback_list.md has the protocol.
// Concurrency: everything by any thread. Allocates: adding. Throws: adding, std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class ListenerList;

// The head of a node that holds a function. Counted: by its list, its handles, and what runs it
// elsewhere; the function itself ends earlier, with the last pass that may call it.
class Listener {
 public:
  // What a pass calls, cast to what it really is: R(*)(Listener&, arguments...).
  using Call = void (*)();

  struct Kind {
    void (*end)(Listener& self) noexcept;         // destroys the function
    void (*deallocate)(Listener& self) noexcept;  // frees the node
  };

  Listener(const Kind& kind, Call call, int priority) noexcept
      : kind_(kind), priority_(priority), call_(call) {}

  // Whether it is in the list that add() has put it into.
  bool attached() const noexcept {
    // order: acquire pairs with the release in ListenerList::hide(): what the remover did before.
    return call_.load(sync::order::acquire) != nullptr;
  }
  PassSubject seen_by() const noexcept;
  ListenerList& list() const noexcept { return *list_; }

  void retain() noexcept {
    references_.fetch_add(1, sync::order::relaxed);  // order: relaxed, the caller has one already
  }
  void release() noexcept;

 protected:
  ~Listener() = default;

 private:
  friend class ListenerList;
  template <class>
  friend struct Books;

  // No gaps: where pointers have 8 bytes these have 96, so that a small function behind them does
  // not lie across two cache lines (a hundred calls 12 % faster).
  const Kind& kind_;
  ListenerList* list_ = nullptr;  // from its adding on, with a reference; never changed
  int priority_;  // of `before`, where it was put before another one
  sync::atomic<std::uint32_t> references_{1};
  sync::cell<sync::atomic<Listener*>*> place_;  // its entry in the current array; under the mutex
  Retired retired_;
  sync::atomic<Call> call_;  // null: removed. Last: a pass reads it, and the function behind it
};

class ListenerRef {
 public:
  ListenerRef() noexcept = default;
  explicit ListenerRef(Listener* adopted) noexcept : listener_(adopted) {}
  ListenerRef(const ListenerRef& other) noexcept : listener_(other.listener_) {
    if (listener_ != nullptr) listener_->retain();
  }
  ListenerRef(ListenerRef&& other) noexcept : listener_(std::exchange(other.listener_, nullptr)) {}
  ListenerRef& operator=(ListenerRef other) noexcept {
    std::swap(listener_, other.listener_);
    return *this;
  }
  ~ListenerRef() {
    if (listener_ != nullptr) listener_->release();
  }
  Listener* get() const noexcept { return listener_; }

 private:
  Listener* listener_ = nullptr;
};

enum class AddedAt : std::uint8_t { back, front, before };

class ListenerList {
 public:
  using Entry = sync::atomic<Listener*>;  // null: removed

  // What a pass looks at: leaves, then entries, which lie behind it. More may be added at the end.
  class Array {
   public:
    // The entries that this one does not share with others.
    Entry* begin() noexcept { return reinterpret_cast<Entry*>(this + 1); }
    std::size_t size() const noexcept {
      // order: acquire pairs with the release in ListenerList::add(): the entries are whole.
      return size_.load(sync::order::acquire);
    }

   private:
    friend class ListenerList;
    template <class>
    friend struct Books;

    Array(std::size_t capacity, std::size_t leaf_count) noexcept
        : capacity_(capacity), leaf_count_(leaf_count) {}

    // Behind the entries: arrays without leaves, whole and never added to.
    using Leaf = sync::atomic<Array*>;
    Leaf* leaves() noexcept { return reinterpret_cast<Leaf*>(begin() + capacity_); }
    Array& leaf(std::size_t index) noexcept {
      // order: acquire pairs with the release in ListenerList::add_in_leaf(): the leaf is whole.
      return *leaves()[index].load(sync::order::acquire);
    }

    const std::size_t capacity_;
    const std::size_t leaf_count_;
    sync::atomic<std::size_t> size_{0};
    std::size_t in_leaves_ = 0;  // entries
    std::size_t index_ = 0;  // of a leaf: in its array, or a lower one
    Array* next_ = nullptr;  // in a Draft
    Retired retired_;
  };

  // `owner`: what passes may be over before they narrow to this list; null: nothing.
  static ListenerList* make(const void* owner);

  // The end of the list for its users: hides all listeners, also from passes under way. Like what
  // follows, it leaves to the caller what there is to retire.
  void close(Garbage& garbage) noexcept;

  // Null: no listener yet.
  Array* current() const noexcept {
    // order: acquire pairs with the release in replace().
    return current_.load(sync::order::acquire);
  }

  // Calls `visit(call, listener)` for each listener, in order, until it says false, which is then
  // the result. Those that are added meanwhile are left out. In a pass, or under the mutex.
  template <class Visit>
  bool for_each(Visit&& visit) const {
    Array* const array = current();
    if (array == nullptr) return true;
    const std::size_t size = array->size();  // before anything is called: what there is now
    if (array->leaf_count_ == 0) [[likely]]
      return for_each_of(array->begin(), size, visit);
    for (std::size_t i = 0; i < array->leaf_count_; ++i) {
      Array& leaf = array->leaf(i);
      if (!for_each_of(leaf.begin(), leaf.size(), visit)) return false;
    }
    return for_each_of(array->begin(), size, visit);
  }

  // `before`, for AddedAt::before: one that is not in this list stands for the end.
  void add(const ListenerRef& listener, AddedAt place, const Listener* before, Garbage& garbage);

  // True for the one call that removed it.
  static bool remove(Listener& listener) noexcept;
  void clear() noexcept;

  // Calls `visitor(context, ref)` for each listener that is there now, in order, without a lock.
  using Visitor = void (*)(void* context, ListenerRef listener);
  void visit(Visitor visitor, void* context);

  std::size_t size() const noexcept { return alive_.get(); }

  bool empty() const noexcept { return size() == 0; }

  PassSubject seen_by() const noexcept { return {this, owner_}; }

  void retain() noexcept {
    references_.fetch_add(1, sync::order::relaxed);  // order: relaxed, the caller has one already
  }
  void release() noexcept;

 private:
  friend class RawBox<ListenerList>;
  template <class>
  friend struct Books;

  explicit ListenerList(const void* owner) noexcept : owner_(owner) {}

  class Draft;
  // In front of the entry `at` of that part: the current array itself, or a leaf; null: no array.
  struct Gap {
    Array* part = nullptr;
    std::size_t at = 0;
    std::size_t leaf = 0;  // which one, of a leaf
  };

  template <class Visit>
  [[gnu::always_inline]] static bool for_each_of(Entry* entry, std::size_t size, Visit& visit) {
    for (Entry* const end = entry + size; entry != end; ++entry) {
      // order: relaxed, twice: the entry, and what it points to, came with the array or its size;
      // null leads nowhere.
      Listener* const listener = entry->load(sync::order::relaxed);
      if (listener == nullptr) [[unlikely]]
        continue;
      sync::taken(listener);
      const Listener::Call call = listener->call_.load(sync::order::relaxed);  // order: as above
      if (call == nullptr) [[unlikely]]
        continue;  // the entry is in an array from before
      const sync::Called called(listener);
      if (!visit(call, *listener)) return false;
    }
    return true;
  }

  // The next array: its leaves, at most how many listeners in the one with the gap, how many of
  // those behind the leaves go into new ones, and how many stay.
  struct Shape {
    std::size_t leaves = 0;
    std::size_t in_leaf = 0;
    std::size_t to_leaves = 0;
    std::size_t tail = 0;
  };

  // Under the mutex. Null: removed.
  static Listener* listener_at(Array& part, std::size_t index) noexcept {
    return part.begin()[index].load(sync::order::relaxed);  // order: relaxed, under the mutex
  }
  static std::size_t alive_in(Array& part) noexcept;
  Gap gap_for(const Listener& added, bool in_front) const noexcept;
  Gap gap_before(const Listener& before) const noexcept;
  Shape shape_for(Gap gap) const noexcept;
  void fill(Draft& draft, const Shape& shape, Gap gap, Listener& added) const;
  void add_in_leaf(Gap gap, Listener& added, Garbage& garbage);
  void adopt(Listener& added) noexcept;
  void hide(Listener& listener) noexcept;
  void hide_all(Garbage& garbage) noexcept;
  void shrink(Garbage& garbage) noexcept;
  void replace(Array* array) noexcept;
  void retire(Array& array, Garbage& garbage) const noexcept;
  void retire_with_leaves(Array& array, Garbage& garbage) const noexcept;
  static void free_array(void* object) noexcept;
  static void free_listener(void* object) noexcept;
  static void free_list(void* object) noexcept;

  const void* const owner_;
  sync::atomic<Array*> current_{nullptr};
  sync::relaxed<std::size_t> alive_;
  sync::atomic<std::uint32_t> references_{1};
  sync::Mutex mutex_;
  int lowest_ = 0;  // no listener has a lower priority, nor a higher one; under the mutex
  int highest_ = 0;
  Retired retired_;
};

inline PassSubject Listener::seen_by() const noexcept { return list_->seen_by(); }

}}}  // namespace handoff::HANDOFF_ABI::detail
