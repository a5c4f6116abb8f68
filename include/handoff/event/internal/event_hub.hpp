// SPDX-License-Identifier: MIT
//
// What a dispatcher is made of, apart from its place: the map of its listeners and its filters.
//
// It lives on the heap, counted, so that a dispatcher may be destroyed by one of its listeners: a
// pass under way finds everything hidden and ends. Not for: users.
// Concurrency: any thread; dispatch() in a Pass over the hub.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/event/detail/listener_map.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/internal/listener_function.hpp>
#include <handoff/event/internal/listener_pass.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/memory/internal/epochs.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Filters see every argument as something they may change, unless it is const by its signature.
template <class T>
using FilterArgument = std::remove_reference_t<T>&;

template <class Key, class Policies, class R, class... Args>
class EventHub {
 public:
  using Functions = ListenerFunctions<R, Args...>;
  using FilterFunctions = ListenerFunctions<bool, FilterArgument<Args>...>;

  static EventHub* make() { return RawBox<EventHub>().make(); }

  // The end for its users; the passes under way end at their next listener.
  void close() noexcept {
    Garbage garbage;
    map_.close(garbage);
    filters_->close(garbage);
    garbage.add(*this, retired_, {this, nullptr}, &free);
  }

  void add(const Key& key, const ListenerRef& listener, AddedAt place, const Listener* before) {
    Garbage garbage;
    map_.add(key, listener, place, before, garbage);
  }

  void add_filter(const ListenerRef& filter, AddedAt place) {
    Garbage garbage;
    filters_->add(filter, place, nullptr, garbage);
  }

  ListenerList* find(const Key& key) const { return map_.find(key); }

  // Calls `visitor(key, list)` for each key. In a pass over this hub.
  template <class Visitor>
  void for_each(Visitor&& visitor) const {
    map_.for_each(visitor);
  }

  bool has_filters() const noexcept { return !filters_->empty(); }

  // Whether all of them say true. In a pass over this hub.
  bool filter(FilterArgument<Args>... args) const {
    return ListenerPass<FilterArgument<Args>...>::template run<bool>(
        *filters_, [](auto&& call) { return call(); }, args...);
  }

  // In `pass`, which is over this hub.
  void dispatch(Pass& pass, const Key& key, FilterArgument<Args>... args) const {
    ListenerList* const list = select(pass, key, args...);
    if (list != nullptr) call(*list, args...);
  }

  // The two halves of it: the list of the key, unless a filter says no or there is none, after
  // which the pass is over that list; and its listeners.
  ListenerList* select(Pass& pass, const Key& key, FilterArgument<Args>... args) const {
    if (has_filters() && !filter(args...)) return nullptr;
    ListenerList* const list = map_.find(key);
    if (list != nullptr) pass.narrow(list);
    return list;
  }
  void call(const ListenerList& list, FilterArgument<Args>... args) const {
    ListenerPass<Args...>::template run_all<R, Policies>(list, args...);
  }

 private:
  friend class RawBox<EventHub>;

  EventHub() : map_(this), filters_(ListenerList::make(this)) {}
  ~EventHub() = default;  // close() has given up the rest

  static void free(void* object) noexcept {
    RawBox<EventHub>::destroy(static_cast<EventHub*>(object));
  }

  ListenerMap<Key, typename HashOf<Policies, Key>::type> map_;
  ListenerList* const filters_;
  Retired retired_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
