// SPDX-License-Identifier: MIT
//
// A list of listeners whatever their signature: what CallbackList and EventDispatcher are made of.
//
// Passes read an array of {call, listener} entries that never changes in what they may look at. A
// listener at the end is added behind what running passes look at; another place, or a full array,
// makes a new array. A removed listener's `call` becomes null in every array still read.
// docs/design/callback_list.md has the protocol.
// Concurrency: everything by any thread. Allocates: adding. Throws: adding, std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/books.hpp>
#include <handoff/event/passes.hpp>
#include <handoff/sync/atomic.hpp>
#include <handoff/sync/cell.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff::inline HANDOFF_ABI::detail {

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
      : kind_(kind), call_(call), priority_(priority) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  bool attached() const noexcept {
    // order: acquire pairs with the release in ListenerList::hide(): what the remover did before.
    return attached_.load(sync::order::acquire);
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
  const Call call_;
  ListenerList* list_ = nullptr;  // from its adding on, with a reference; never changed
  int priority_;                  // of `before`, where it was put before another one
  sync::atomic<std::uint32_t> references_{1};
  sync::cell<std::uint32_t> index_;  // in the list's current array; under its mutex
  sync::atomic<bool> attached_{false};
  Retired retired_;
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

enum class Place : std::uint8_t { back, front, before };

class ListenerList {
 public:
  struct Entry {
    sync::atomic<Listener::Call> call{nullptr};  // null: removed
    sync::cell<Listener*> listener;
  };

  // Of entries; they lie behind it.
  class Array {
   public:
    Entry* begin() noexcept { return reinterpret_cast<Entry*>(this + 1); }
    // What a pass that begins now looks at.
    std::size_t size() const noexcept {
      // order: acquire pairs with the release in ListenerList::add(): the entries are whole.
      return size_.load(sync::order::acquire);
    }

   private:
    friend class ListenerList;
    template <class>
    friend struct Books;
    using OlderIndex = sync::cell<std::uint32_t>;
    static constexpr std::uint32_t kNotThere = ~std::uint32_t{0};

    Array(ListenerList& list, std::size_t capacity) noexcept : list_(list), capacity_(capacity) {}

    // Behind the entries, for each one: its index in the older array.
    OlderIndex* older_indices() noexcept {
      return reinterpret_cast<OlderIndex*>(begin() + capacity_);
    }

    ListenerList& list_;
    const std::size_t capacity_;
    sync::atomic<std::size_t> size_{0};
    Retired retired_;
    // Under the list's mutex: what this one replaced, while a pass may read it, and the way back.
    Array* older_ = nullptr;
    Array* newer_ = nullptr;
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

  // `before`, for Place::before: one that is not in this list stands for the end.
  void add(const ListenerRef& listener, Place place, const Listener* before, Garbage& garbage);

  // True for the one call that removed it.
  static bool remove(Listener& listener) noexcept;
  void clear() noexcept;

  // Calls `visitor(context, ref)` for each listener that is there now, in order, without a lock.
  using Visitor = void (*)(void* context, ListenerRef listener);
  void visit(Visitor visitor, void* context);

  std::size_t size() const noexcept {
    return alive_.load(sync::order::relaxed);  // order: relaxed, a figure of the moment
  }

  bool empty() const noexcept { return size() == 0; }

  PassSubject seen_by() const noexcept { return {this, owner_}; }

  void retain() noexcept {
    references_.fetch_add(1, sync::order::relaxed);  // order: relaxed, the caller has one already
  }
  void release() noexcept;

 private:
  template <class>
  friend struct Books;

  explicit ListenerList(const void* owner) noexcept : owner_(owner) {}

  std::size_t position(const Listener& added, Place place, const Listener* before) const noexcept;
  Array* make_array(std::size_t alive);
  Array* construct_array(void* memory, std::size_t capacity) noexcept;
  static void put(Array& array, std::size_t index, Listener& listener,
                  std::size_t older_index) noexcept;
  void copy(Array& to, std::size_t gap, Listener* added) const noexcept;
  void replace(Array* array, Garbage& garbage) noexcept;
  void hide(Listener& listener) noexcept;
  void hide_all(Garbage& garbage) noexcept;
  void shrink(Garbage& garbage) noexcept;
  static void free_array(void* object) noexcept;
  static void free_listener(void* object) noexcept;
  static void free_list(void* object) noexcept;

  const void* const owner_;
  sync::atomic<Array*> current_{nullptr};
  sync::atomic<std::size_t> alive_{0};
  sync::atomic<std::uint32_t> references_{1};
  sync::Mutex mutex_;
  Retired retired_;
};

inline PassSubject Listener::seen_by() const noexcept { return list_->seen_by(); }

}  // namespace handoff::inline HANDOFF_ABI::detail
