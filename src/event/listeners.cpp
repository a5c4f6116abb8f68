// SPDX-License-Identifier: MIT
//
// Adding, removing, and the arrays that passes read. docs/design/callback_list.md.
//
// Invariants, under the list's mutex:
//   LS-1  The entries of the current array, those of its leaves first, are the attached listeners,
//         in order: higher priorities first. Each knows its entry, and its call is not null.
//   LS-2  An entry of the current array goes from null to a listener before the array's size covers
//         it, and once back to null. A listener's call becomes null once.
//   LS-3  An array's size never shrinks and its entries are never used again.
//   LS-4  Only passes that began before an array or a leaf left the list can read it. So they began
//         before the removal of whatever is removed after that: all that it points to is there.
#include <algorithm>
#include <cstdint>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/single_threaded.hpp>
#include <memory>
#include <new>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kFirstCapacity = 4;
constexpr std::size_t capacity_for(std::size_t alive) noexcept {
  return std::max(kFirstCapacity, alive + alive / 2);
}

// A list with this many entries is made anew when no more than one in kShrinkTo has a listener. One
// in two would cost more than the removals, which take a line of memory each, and so does this.
constexpr std::size_t kShrinkFrom = 16;
constexpr std::size_t kShrinkTo = 4;

// Entries of a new leaf, and how many it has room for; the next one cuts it in two. So an addition
// in the midst of n listeners copies one leaf, and n / kLeaf pointers if it cuts one or if somebody
// is in a pass.
#if defined(HANDOFF_EXPLORE)
constexpr std::size_t kLeaf = 1;
constexpr std::size_t kLeafRoom = 2;
#else
constexpr std::size_t kLeaf = 32;
constexpr std::size_t kLeafRoom = 64;
#endif

template <class Array>
constexpr std::size_t bytes_for(std::size_t capacity, std::size_t leaf_count) noexcept {
  return sizeof(Array) + capacity * sizeof(ListenerList::Entry) +
         leaf_count * sizeof(sync::atomic<Array*>);
}

// Behind a leaf's entries stands the leaf itself, odd, so that it is found from each of them.
Listener* end_of(const ListenerList::Array& leaf) noexcept {
  return reinterpret_cast<Listener*>(reinterpret_cast<std::uintptr_t>(&leaf) + 1);
}
ListenerList::Array& leaf_around(const ListenerList::Entry* entry) noexcept {
  for (;; ++entry) {
    // order: relaxed, under the mutex
    const auto address = reinterpret_cast<std::uintptr_t>(entry->load(sync::order::relaxed));
    if (address % 2 != 0) return *reinterpret_cast<ListenerList::Array*>(address - 1);
  }
}

// Gives up one reference. True if it was the last: all that others did comes before this. A thread
// that finds but one has it, and need not write.
bool was_last(sync::atomic<std::uint32_t>& references) noexcept {
  // order: acquire pairs with the release below, by this very variable.
  const std::uint32_t now = references.load(sync::order::acquire);
  if (now == 1) return true;
  if (sync::single_threaded()) {
    references.store(now - 1, sync::order::relaxed);  // order: relaxed, of one thread
    return false;
  }
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
  const sync::MadeForAll unseen;
  kind_.deallocate(*this);
  if (list != nullptr) list->release();
}

ListenerList* ListenerList::make(const void* owner) { return RawBox<ListenerList>().make(owner); }

void ListenerList::release() noexcept {
  if (!was_last(references_)) return;
  const sync::MadeForAll unseen;
  RawBox<ListenerList>::destroy(this);
}

void ListenerList::close(Garbage& garbage) noexcept {
  const sync::Lock lock(mutex_);
  hide_all(garbage);  // equivalent(swap): what is freed together, in any order
  garbage.add(*this, retired_, seen_by(), &free_list);
}

// The array to come. To fill it may fail, and changes nothing in the list; then the list takes it.
class ListenerList::Draft {
 public:
  // Room for `entries` behind `leaf_count` leaves. Throws std::bad_alloc.
  Draft(std::size_t leaf_count, std::size_t entries) : array_(make(entries, leaf_count)) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (array_ == nullptr) return;
    close();  // equivalent(delete): destructors of entries do nothing outside the explorer
    while (made_ != nullptr) free_array(std::exchange(made_, made_->next_));
    free_array(array_);
  }

  // Behind the others: leaves as they are; a listener in the last leaf, which is this draft's own,
  // or a new one if that holds `most`; one behind all leaves.
  void share(Array& array, std::size_t first, std::size_t count, std::size_t entries) noexcept {
    for (std::size_t i = first; i < first + count; ++i) {
      add_leaf(*array.leaves()[i].load(sync::order::relaxed));  // order: under the mutex
    }
    array_->in_leaves_ += entries;
  }
  void put_in_leaf(Listener& listener, std::size_t most) {
    if (open_ == nullptr) {
      open_ = make_leaf(most, leaves_);  // equivalent(swap): a draft that throws is not asked again
      most_ = most;
      // equivalent(swap): two lists of a draft that nobody else knows
      open_->next_ = std::exchange(made_, open_);
      add_leaf(*open_);
    }
    std::construct_at(open_->begin() + in_open_, &listener);
    if (++in_open_ == most_) close_leaf();
  }
  void close_leaf() noexcept {
    if (open_ == nullptr) return;
    finish_leaf(*std::exchange(open_, nullptr), in_open_);
    array_->in_leaves_ += std::exchange(in_open_, 0);
  }
  void put(Listener& listener) noexcept {
    std::construct_at(array_->begin() + in_tail_++, &listener);
  }

  // The listeners know their new entries.
  Array* finish() && noexcept {
    close();
    for (; made_ != nullptr; made_ = made_->next_) tell_places(*made_);
    tell_places(*array_);
    return std::exchange(array_, nullptr);
  }

  static Array* make(std::size_t entries, std::size_t leaf_count) {
    const sync::MadeForAll unseen;
    void* const memory = sync::allocate(bytes_for<Array>(entries, leaf_count), alignof(Array));
    return construct(memory, entries, leaf_count);
  }

  // With one place more, for its end.
  static Array* make_leaf(std::size_t entries, std::size_t index) {
    Array* const leaf = make(entries + 1, 0);
    // equivalent(delete): only speed: it is looked for from the first leaf on
    leaf->index_ = index;
    return leaf;
  }
  static void finish_leaf(Array& leaf, std::size_t entries) noexcept {
    // equivalent(swap): in a leaf that nobody knows yet
    std::construct_at(leaf.begin() + entries, end_of(leaf));
    // order: relaxed, the store that publishes the leaf releases it
    leaf.size_.store(entries, sync::order::relaxed);
  }
  static void tell_places(Array& array) noexcept {
    for (Entry *entry = array.begin(), *end = entry + array.size(); entry != end; ++entry) {
      // order: relaxed, under the mutex
      entry->load(sync::order::relaxed)->place_.write() = entry;
    }
  }

  static Array* construct(void* memory, std::size_t capacity, std::size_t leaf_count) noexcept {
    static_assert(alignof(Array) >= alignof(Entry) && sizeof(Array) % alignof(Entry) == 0);
    static_assert(alignof(Entry) >= alignof(Array::Leaf));
    return ::new (memory) Array(capacity, leaf_count);
  }

 private:
  void close() noexcept {
    close_leaf();  // equivalent(swap): two members of an array that nobody else knows yet
    array_->size_.store(in_tail_, sync::order::relaxed);  // order: relaxed, replace() releases it
  }
  void add_leaf(Array& leaf) noexcept { std::construct_at(array_->leaves() + leaves_++, &leaf); }

  Array* array_;
  std::size_t leaves_ = 0;  // of the array's, that are there
  std::size_t in_tail_ = 0;  // listeners behind them
  Array* open_ = nullptr;  // the last leaf, while it has room
  std::size_t in_open_ = 0;
  std::size_t most_ = 0;
  Array* made_ = nullptr;  // the leaves that no other array has, by next_
};

std::size_t ListenerList::alive_in(Array& part) noexcept {
  std::size_t alive = 0;
  for (std::size_t i = 0; i < part.size(); ++i) alive += listener_at(part, i) != nullptr ? 1 : 0;
  return alive;
}

// In front of `before`, which is attached.
ListenerList::Gap ListenerList::gap_before(const Listener& before) const noexcept {
  Array& array = *current();
  const Entry* const place = before.place_.read();
  const auto distance =
      reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(array.begin());
  // equivalent(bound): no entry of a leaf lies there: its header does
  if (distance < array.capacity_ * sizeof(Entry)) return {&array, distance / sizeof(Entry)};
  Array& leaf = leaf_around(place);
  // Leaves only come between others, so it is where it was known to be, or behind.
  // order: relaxed, under the mutex
  while (array.leaves()[leaf.index_].load(sync::order::relaxed) != &leaf) ++leaf.index_;
  return {&leaf, static_cast<std::size_t>(place - leaf.begin()), leaf.index_};
}

// In front of those of its priority, or behind them.
ListenerList::Gap ListenerList::gap_for(const Listener& added, bool in_front) const noexcept {
  Array* const array = current();
  if (array == nullptr) return {};
  Gap gap{array, array->size()};
  // Mostly at an end, and nobody need be asked.
  // equivalent(bound): only speed: the long way finds the same gap
  if (!in_front && (empty() || added.priority_ <= lowest_)) return gap;
  // equivalent(bound): only speed: the long way finds the same gap
  if (in_front && (empty() || added.priority_ >= highest_)) {
    return {array->leaf_count_ != 0 ? &array->leaf(0) : array, 0};
  }
  const auto goes_before = [&](const Listener& other) {
    return other.priority_ < added.priority_ || (in_front && other.priority_ == added.priority_);
  };
  const auto goes_before_all = [&](Array& part, std::size_t leaf) {
    for (std::size_t at = part.size(); at > 0; --at) {
      const Listener* const other = listener_at(part, at - 1);
      if (other == nullptr) continue;
      if (!goes_before(*other)) return false;
      gap = {&part, at - 1, leaf};
    }
    return true;
  };
  if (!goes_before_all(*array, 0)) return gap;
  for (std::size_t i = array->leaf_count_; i > 0; --i) {
    Array& leaf = array->leaf(i - 1);
    std::size_t first = 0;
    // equivalent(bound): behind the last entry its end stands
    while (first < leaf.size() && listener_at(leaf, first) == nullptr) ++first;
    if (first == leaf.size()) continue;
    if (!goes_before(*listener_at(leaf, first))) {
      (void)goes_before_all(leaf, i - 1);
      return gap;
    }
    gap = {&leaf, 0, i - 1};  // and before all that follows there
  }
  return gap;
}

// How the next array is divided: `added` comes into the gap.
ListenerList::Shape ListenerList::shape_for(Gap gap) const noexcept {
  Array* const array = current();
  if (array == nullptr) return {.tail = 1};
  Shape shape{.leaves = array->leaf_count_, .tail = alive_in(*array)};
  if (gap.part != array) {
    shape.in_leaf = gap.part->size() + 1;  // or fewer
    // equivalent(bound): only speed: how large a leaf may grow
    if (shape.in_leaf > kLeafRoom) shape.in_leaf = alive_in(*gap.part) + 1;
    shape.leaves += shape.in_leaf > kLeafRoom ? 1 : 0;
  } else {
    ++shape.tail;
    if (gap.at == array->size()) return shape;  // more are to come there: it stays in one piece
  }
  // equivalent(bound): only speed: when a tail becomes leaves
  if (shape.tail < kLeaf) return shape;
  shape.to_leaves = std::exchange(shape.tail, 0);
  shape.leaves += shape.to_leaves / kLeaf;  // the last one takes the rest
  return shape;
}

// The attached listeners, and `added` in the gap.
void ListenerList::fill(Draft& draft, const Shape& shape, Gap gap, Listener& added) const {
  const auto for_each_in = [&](Array& part, auto&& take) {
    // equivalent(bound): behind the last entry there is nothing to be put
    for (std::size_t i = 0; i <= part.size(); ++i) {
      if (gap.part == &part && gap.at == i) take(added);
      Listener* const listener = i < part.size() ? listener_at(part, i) : nullptr;
      if (listener != nullptr) take(*listener);
    }
  };
  Array* const array = current();
  if (array == nullptr) return draft.put(added);
  if (gap.part != array) {
    draft.share(*array, 0, gap.leaf, array->in_leaves_ - gap.part->size());
    const std::size_t most = shape.in_leaf > kLeafRoom ? (shape.in_leaf + 1) / 2 : shape.in_leaf;
    for_each_in(*gap.part, [&](Listener& each) { draft.put_in_leaf(each, most); });
    draft.close_leaf();  // equivalent(swap): two parts of a draft that nobody else knows
    draft.share(*array, gap.leaf + 1, array->leaf_count_ - gap.leaf - 1, 0);
  } else {
    draft.share(*array, 0, array->leaf_count_, array->in_leaves_);
  }
  std::size_t to_leaves = shape.to_leaves;
  for_each_in(*array, [&](Listener& each) {
    if (to_leaves == 0) return draft.put(each);
    draft.put_in_leaf(each, to_leaves < 2 * kLeaf ? to_leaves : kLeaf);
    --to_leaves;
  });
}

// From here on it is one of this list; its very first call may remove it.
void ListenerList::adopt(Listener& added) noexcept {
  // equivalent(swap): the lowest and the highest do not know each other
  lowest_ = empty() ? added.priority_ : std::min(lowest_, added.priority_);
  // equivalent(swap): changed and read under the mutex; a figure of the moment elsewhere
  highest_ = empty() ? added.priority_ : std::max(highest_, added.priority_);
  // equivalent(swap): two counters that do not know each other
  added.retain();  // the list's reference
  // equivalent(swap): changed and read under the mutex; a figure of the moment elsewhere
  retain();  // the listener's
  // equivalent(swap): changed and read under the mutex; a figure of the moment elsewhere
  added.list_ = this;
  alive_.set(size() + 1);
}

void ListenerList::add(const ListenerRef& listener, AddedAt place, const Listener* before,
                       Garbage& garbage) {
  const sync::Lock lock(mutex_);
  Listener& added = *listener.get();
  const bool is_before =
      place == AddedAt::before && before != nullptr && before->list_ == this && before->attached();
  if (is_before) added.priority_ = before->priority_;
  const Gap gap = is_before ? gap_before(*before) : gap_for(added, place == AddedAt::front);
  Array* const array = current();
  const bool at_end = array != nullptr && gap.part == array && gap.at == array->size();
  if (at_end && gap.at < array->capacity_) {
    adopt(added);  // equivalent(swap): the store of the size publishes both
    added.place_.write() = std::construct_at(array->begin() + gap.at, &added);
    // order: release pairs with the acquire in Array::size().
    array->size_.store(gap.at + 1, sync::order::release);
    return;
  }
  // A pass from before would come across the new leaf, and one that begins meanwhile may.
  // equivalent(bound negate): only speed: how large a leaf may grow
  const bool in_leaf = array != nullptr && gap.part != array && gap.part->size() < kLeafRoom;
  if (in_leaf && nobody_passes()) return add_in_leaf(gap, added, garbage);
  const Shape shape = shape_for(gap);
  Draft draft(shape.leaves, capacity_for(shape.tail));
  fill(draft, shape, gap, added);
  adopt(added);
  replace(std::move(draft).finish());
  if (array == nullptr) return;
  if (gap.part != array) retire(*gap.part, garbage);
  retire(*array, garbage);
}

// Nobody is in a pass but a thread that begins one now: the array stays, and gets another leaf.
void ListenerList::add_in_leaf(Gap gap, Listener& added, Garbage& garbage) {
  Array& before = *gap.part;
  Array& leaf = *Draft::make_leaf(before.size() + 1, gap.leaf);
  std::size_t entries = 0;
  // equivalent(bound): a gap in a leaf is in front of a listener
  for (std::size_t i = 0; i <= before.size(); ++i) {
    if (i == gap.at) std::construct_at(leaf.begin() + entries++, &added);
    Listener* const listener = i < before.size() ? listener_at(before, i) : nullptr;
    if (listener != nullptr) std::construct_at(leaf.begin() + entries++, listener);
  }
  Draft::finish_leaf(leaf, entries);
  Draft::tell_places(leaf);  // equivalent(swap): both under the mutex, and nobody passes
  adopt(added);
  Array& array = *current();
  // equivalent(swap): changed and read under the mutex
  array.in_leaves_ += entries - before.size();
  // order: release pairs with the acquire in Array::leaf().
  array.leaves()[gap.leaf].store(&leaf, sync::order::release);
  retire(before, garbage);
}

// No pass from here on calls it. Nor does a pass under way that has not come to it.
void ListenerList::hide(Listener& listener) noexcept {
  // order: relaxed, null leads nowhere
  // equivalent(swap): both are hidden before their remover looks for passes
  listener.place_.read()->store(nullptr, sync::order::relaxed);
  // order: release pairs with the acquire in attached().
  // equivalent(swap): changed and read under the mutex; a figure of the moment elsewhere
  listener.call_.store(nullptr, sync::order::release);
  alive_.set(size() - 1);
}

void ListenerList::hide_all(Garbage& garbage) noexcept {
  Array* const array = current();
  if (array == nullptr) return;
  (void)for_each([&](Listener::Call, Listener& listener) {
    hide(listener);  // equivalent(swap): what is gathered is retired behind the lock, after both
    garbage.add(listener, listener.retired_, seen_by(), &free_listener);
    return true;
  });
  replace(nullptr);  // equivalent(swap): what is gathered is retired behind the lock, after both
  retire_with_leaves(*array, garbage);
}

// After removals: an array that is mostly null entries would slow every pass.
void ListenerList::shrink(Garbage& garbage) noexcept {
  Array& array = *current();
  const std::size_t entries = array.in_leaves_ + array.size();
  const std::size_t alive = size();
  if (alive == 0) {
    replace(nullptr);
    return retire_with_leaves(array, garbage);
  }
  // equivalent(bound): only memory: an array shrinks one removal later or earlier
  if (entries < kShrinkFrom || alive > entries / kShrinkTo) return;
  const std::size_t capacity = capacity_for(alive);
  const sync::MadeForAll unseen;
  void* const memory = sync::try_allocate(bytes_for<Array>(capacity, 0), alignof(Array));
  if (memory == nullptr) return;  // slower passes, until another removal tries again
  Array* const smaller = Draft::construct(memory, capacity, 0);
  std::size_t moved = 0;
  const auto move = [&](Array& part) {
    for (Entry *entry = part.begin(), *end = entry + part.size(); entry != end; ++entry) {
      Listener* const listener = entry->load(sync::order::relaxed);  // order: under the mutex
      if (listener == nullptr) continue;
      listener->place_.write() = std::construct_at(smaller->begin() + moved++, listener);
    }
  };
  for (std::size_t i = 0; i < array.leaf_count_; ++i) move(array.leaf(i));
  move(array);
  smaller->size_.store(moved, sync::order::relaxed);  // order: relaxed, replace() releases it
  replace(smaller);
  retire_with_leaves(array, garbage);
}

// Makes `array` the current one. The one before may still be read.
void ListenerList::replace(Array* array) noexcept {
  current_.store(array, sync::order::release);  // order: release pairs with current()
}

void ListenerList::retire(Array& array, Garbage& garbage) const noexcept {
  garbage.add(array, array.retired_, seen_by(), &free_array);
}

void ListenerList::retire_with_leaves(Array& array, Garbage& garbage) const noexcept {
  for (std::size_t i = 0; i < array.leaf_count_; ++i) retire(array.leaf(i), garbage);
  retire(array, garbage);
}

bool ListenerList::remove(Listener& listener) noexcept {
  if (!listener.attached()) return false;
  Garbage garbage;
  ListenerList& list = *listener.list_;
  {
    const sync::Lock lock(list.mutex_);
    if (!listener.attached()) return false;  // another one was first
    list.hide(listener);  // equivalent(swap): only memory: an array shrinks one removal later
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
  (void)for_each([&](Listener::Call, Listener& listener) {
    listener.retain();
    visitor(context, ListenerRef(&listener));
    return true;
  });
}

void ListenerList::free_array(void* object) noexcept {
  Array& array = *static_cast<Array*>(object);
  const std::size_t bytes = bytes_for<Array>(array.capacity_, array.leaf_count_);
  // equivalent(delete): their destructors do nothing outside the explorer
  std::destroy_n(array.begin(), array.size());
  std::destroy_at(&array);  // equivalent(delete swap): its destructor does nothing
  const sync::MadeForAll unseen;
  sync::deallocate(&array, bytes, alignof(Array));
}

void ListenerList::free_listener(void* object) noexcept {
  Listener& listener = *static_cast<Listener*>(object);
  listener.kind_.end(listener);
  listener.release();
}

void ListenerList::free_list(void* object) noexcept {
  static_cast<ListenerList*>(object)->release();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
