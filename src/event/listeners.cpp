// SPDX-License-Identifier: MIT
//
// Adding, removing, and the arrays that passes read. docs/design/callback_list.md.
//
// Invariants, under the list's mutex:
//   L1  The entries of the current array with a call are the attached listeners, in order: higher
//       priorities first. Each knows its index.
//   L2  An entry's call goes from null to a function before the array's size covers it, and once
//       back to null, in every array that passes may still read.
//   L3  An array's size never shrinks and its entries are never used again.
//   L4  From the current array, `older_` leads through all arrays that passes may still read. When
//       none can read one, none can read an older one: it would have begun earlier still.
#include <algorithm>
#include <cstdint>
#include <handoff/event/listeners.hpp>
#include <handoff/sync/allocate.hpp>
#include <memory>
#include <new>

namespace handoff::inline HANDOFF_ABI::detail {
namespace {

constexpr std::size_t kFirstCapacity = 4;
constexpr std::size_t capacity_for(std::size_t alive) noexcept {
  return std::max(kFirstCapacity, alive + alive / 2);
}

constexpr std::size_t kShrinkFrom = 16;  // arrays below this size keep their dead entries

template <class Array>
constexpr std::size_t bytes_for(std::size_t capacity) noexcept {
  constexpr std::size_t older_index = sizeof(sync::cell<std::uint32_t>);
  return sizeof(Array) + capacity * (sizeof(ListenerList::Entry) + older_index);
}

// Gives up one reference. True if it was the last: all that others did comes before this. Who finds
// but one has it, and need not write.
bool was_last(sync::atomic<std::uint32_t>& references) noexcept {
  // order: acquire pairs with the release below, by this very variable.
  if (references.load(sync::order::acquire) == 1) return true;
  // order: release pairs with the acquires above and below.
  if (references.fetch_sub(1, sync::order::release) != 1) return false;
  (void)references.load(sync::order::acquire);  // order: acquire as above
  return true;
}

}  // namespace

void Listener::release() noexcept {
  if (!was_last(references_)) return;
  ListenerList* const list = list_;
  if (list == nullptr) kind_.end(*this);  // never got into a list, which would have ended it
  kind_.deallocate(*this);
  if (list != nullptr) list->release();
}

ListenerList* ListenerList::make(const void* owner) {
  void* const memory = sync::allocate(sizeof(ListenerList), alignof(ListenerList));
  return ::new (memory) ListenerList(owner);
}

void ListenerList::release() noexcept {
  if (!was_last(references_)) return;
  std::destroy_at(this);
  sync::deallocate(this, sizeof(ListenerList), alignof(ListenerList));
}

void ListenerList::close(Garbage& garbage) noexcept {
  const sync::Lock lock(mutex_);
  hide_all(garbage);
  garbage.add(*this, retired_, seen_by(), &free_list);
}

ListenerList::Array* ListenerList::make_array(std::size_t alive) {
  const std::size_t capacity = capacity_for(alive);
  return construct_array(sync::allocate(bytes_for<Array>(capacity), alignof(Array)), capacity);
}

ListenerList::Array* ListenerList::construct_array(void* memory, std::size_t capacity) noexcept {
  static_assert(alignof(Array) >= alignof(Entry) && sizeof(Array) % alignof(Entry) == 0);
  auto* const array = ::new (memory) Array(*this, capacity);
  retain();
  return array;
}

// Behind the others; the caller lets the size cover it.
void ListenerList::put(Array& array, std::size_t index, Listener& listener,
                       std::size_t older_index) noexcept {
  Entry& entry = *std::construct_at(array.begin() + index);
  Array::OlderIndex& older = *std::construct_at(array.older_indices() + index);
  older.write() = static_cast<std::uint32_t>(older_index);
  listener.index_.write() = static_cast<std::uint32_t>(index);
  entry.listener.write() = &listener;
  entry.call.store(listener.call_, sync::order::relaxed);  // order: relaxed, covered by the size
}

// The attached listeners, and `added` in front of what stands at `gap`.
void ListenerList::copy(Array& to, std::size_t gap, Listener* added) const noexcept {
  Array* const from = current();
  const std::size_t size = from != nullptr ? from->size() : 0;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (i == gap && added != nullptr) put(to, copied++, *added, Array::kNotThere);
    Entry& entry = from->begin()[i];
    // order: relaxed, under the mutex
    if (entry.call.load(sync::order::relaxed) == nullptr) continue;
    put(to, copied++, *entry.listener.read(), i);
  }
  if (gap == size && added != nullptr) put(to, copied++, *added, Array::kNotThere);
  to.size_.store(copied, sync::order::relaxed);  // order: relaxed, replace() releases it
}

// Makes `array` the current one. The one before may still be read.
void ListenerList::replace(Array* array, Garbage& garbage) noexcept {
  Array* const old = current();
  current_.store(array, sync::order::release);  // order: release pairs with current()
  if (old == nullptr) return;
  if (array != nullptr) {
    array->older_ = old;
    old->newer_ = array;
  }
  garbage.add(*old, old->retired_, seen_by(), &free_array);
}

// Where `added` belongs in the current array; its size for the end.
std::size_t ListenerList::position(const Listener& added, Place place,
                                   const Listener* before) const noexcept {
  Array* const array = current();
  std::size_t at = array != nullptr ? array->size() : 0;
  if (place == Place::before) return before->index_.read();
  const bool in_front = place == Place::front;
  for (std::size_t i = at; i > 0; --i) {
    const Entry& entry = array->begin()[i - 1];
    // order: relaxed, under the mutex
    if (entry.call.load(sync::order::relaxed) == nullptr) continue;
    const int priority = entry.listener.read()->priority_;
    if (priority > added.priority_ || (priority == added.priority_ && !in_front)) break;
    at = i - 1;
  }
  return at;
}

void ListenerList::add(const ListenerRef& listener, Place place, const Listener* before,
                       Garbage& garbage) {
  const sync::Lock lock(mutex_);
  Listener& added = *listener.get();
  Array* const array = current();
  const std::size_t size = array != nullptr ? array->size() : 0;
  if (place == Place::before) {
    if (before != nullptr && before->list_ == this && before->attached()) {
      added.priority_ = before->priority_;
    } else {
      place = Place::back;
    }
  }
  const std::size_t at = position(added, place, before);
  const bool has_room = at == size && array != nullptr && size < array->capacity_;
  Array* const bigger = has_room ? nullptr : make_array(this->size() + 1);
  // All of this before a pass can see it: the very first call may remove it.
  added.retain();  // the list's reference
  retain();        // the listener's
  added.list_ = this;
  // order: relaxed; who can ask has the listener from its entry, or from the end of this call.
  added.attached_.store(true, sync::order::relaxed);
  // order: relaxed, a figure of the moment, changed under the mutex
  alive_.store(this->size() + 1, sync::order::relaxed);
  if (has_room) {
    put(*array, size, added, Array::kNotThere);
    // order: release pairs with the acquire in Array::size().
    array->size_.store(size + 1, sync::order::release);
  } else {
    copy(*bigger, at, &added);
    replace(bigger, garbage);
  }
}

// No pass from here on calls it, nor does one under way that has not come to it.
void ListenerList::hide(Listener& listener) noexcept {
  std::size_t index = listener.index_.read();
  for (Array* array = current();;) {
    // order: relaxed, null leads nowhere
    array->begin()[index].call.store(nullptr, sync::order::relaxed);
    if (array->older_ == nullptr) break;  // mostly: another line of memory less
    index = array->older_indices()[index].read();
    if (index == Array::kNotThere) break;
    array = array->older_;
  }
  // order: release pairs with the acquire in attached().
  listener.attached_.store(false, sync::order::release);
  // order: relaxed, a figure of the moment, changed under the mutex
  alive_.store(size() - 1, sync::order::relaxed);
}

void ListenerList::hide_all(Garbage& garbage) noexcept {
  Array* const array = current();
  if (array == nullptr) return;
  for (Entry *entry = array->begin(), *end = entry + array->size(); entry != end; ++entry) {
    // order: relaxed, under the mutex
    if (entry->call.load(sync::order::relaxed) == nullptr) continue;
    Listener& listener = *entry->listener.read();
    hide(listener);
    garbage.add(listener, listener.retired_, seen_by(), &free_listener);
  }
  replace(nullptr, garbage);
}

// After removals: an array that is mostly dead entries would slow every pass.
void ListenerList::shrink(Garbage& garbage) noexcept {
  const std::size_t alive = size();
  if (alive == 0) return replace(nullptr, garbage);
  if (current()->size() < kShrinkFrom || alive > current()->size() / 2) return;
  const std::size_t capacity = capacity_for(alive);
  void* const memory = sync::try_allocate(bytes_for<Array>(capacity), alignof(Array));
  if (memory == nullptr) return;  // slower passes, until another removal tries again
  Array* const smaller = construct_array(memory, capacity);
  copy(*smaller, current()->size(), nullptr);
  replace(smaller, garbage);
}

bool ListenerList::remove(Listener& listener) noexcept {
  if (!listener.attached()) return false;
  Garbage garbage;
  ListenerList& list = *listener.list_;
  {
    const sync::Lock lock(list.mutex_);
    if (!listener.attached()) return false;  // another one was first
    list.hide(listener);
    list.shrink(garbage);
  }
  // Mostly so, and then what it takes to wait for passes is not even written down.
  if (nobody_passes()) {
    free_listener(&listener);
  } else {
    garbage.add(listener, listener.retired_, listener.seen_by(), &free_listener);
  }
  return true;
}

void ListenerList::clear() noexcept {
  Garbage garbage;
  const sync::Lock lock(mutex_);
  hide_all(garbage);
}

void ListenerList::visit(Visitor visitor, void* context) {
  const Pass pass(this);
  Array* const array = current();
  if (array == nullptr) return;
  for (Entry *entry = array->begin(), *end = entry + array->size(); entry != end; ++entry) {
    // order: relaxed, as in a pass that calls: the entry came with the array's size.
    if (entry->call.load(sync::order::relaxed) == nullptr) continue;
    Listener* const listener = entry->listener.read();
    listener->retain();
    visitor(context, ListenerRef(listener));
  }
}

void ListenerList::free_array(void* object) noexcept {
  Array& array = *static_cast<Array*>(object);
  ListenerList& list = array.list_;
  {
    const sync::Lock lock(list.mutex_);
    // Older ones that wait to be freed are out of the chain with it: L4.
    if (array.newer_ != nullptr) array.newer_->older_ = nullptr;
    if (array.older_ != nullptr) array.older_->newer_ = nullptr;
  }
  const std::size_t bytes = bytes_for<Array>(array.capacity_);
  std::destroy_n(array.older_indices(), array.size());
  std::destroy_n(array.begin(), array.size());
  std::destroy_at(&array);
  sync::deallocate(&array, bytes, alignof(Array));
  list.release();
}

void ListenerList::free_listener(void* object) noexcept {
  Listener& listener = *static_cast<Listener*>(object);
  listener.kind_.end(listener);
  listener.release();
}

void ListenerList::free_list(void* object) noexcept {
  static_cast<ListenerList*>(object)->release();
}

}  // namespace handoff::inline HANDOFF_ABI::detail
