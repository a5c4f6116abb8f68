// SPDX-License-Identifier: MIT
//
// From events to their listeners, where the policies bring a map or a mutex of their own, or where
// an event has no hash: a map of lists under the policies' mutex.
//
// The mutex is held for a look into the map, not while a callback runs.
// Not for: users. Concurrency: as the policies' mutex says.
#pragma once

#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <eventpp/callbacklist.h>
#include <eventpp/internal/policies.hpp>

namespace eventpp::internal {

template <class Policies, class Event, class R, class... Args>
class LockedTable {
  using Threading = typename ThreadingOf<Policies>::type;
  using Lock = std::lock_guard<typename Threading::Mutex>;
  using List = CallbackList<R(Args...), Policies>;
  using Map = typename MapOf<Policies, Event, std::shared_ptr<List>>::type;

 public:
  using Handle = typename List::Handle;

  LockedTable() = default;
  LockedTable(const LockedTable& other) : map_(other.copied()) {}
  LockedTable(LockedTable&& other) noexcept { swap(other); }
  LockedTable& operator=(LockedTable other) noexcept {
    swap(other);
    return *this;
  }

  void swap(LockedTable& other) noexcept {
    using std::swap;
    swap(map_, other.map_);
  }

  template <class F>
  Handle add(const Event& event, F&& function, AddedAt place, const Handle& before = {}) {
    const std::shared_ptr<List> list = made(event);
    switch (place) {
      case AddedAt::front: return list->prepend(std::forward<F>(function));
      case AddedAt::before: return list->insert(std::forward<F>(function), before);
      case AddedAt::back: break;
    }
    return list->append(std::forward<F>(function));
  }

  bool remove(const Event& event, const Handle& handle) {
    const std::shared_ptr<List> list = found(event);
    return list != nullptr && list->remove(handle);
  }
  bool owns(const Event& event, const Handle& handle) const {
    const std::shared_ptr<List> list = found(event);
    return list != nullptr && list->ownsHandle(handle);
  }
  bool has(const Event& event) const {
    const std::shared_ptr<List> list = found(event);
    return list != nullptr && !list->empty();
  }

  template <class Visitor>
  bool visit(const Event& event, Visitor&& visitor) const {
    const std::shared_ptr<List> list = found(event);
    return list == nullptr || list->forEachIf(visitor);
  }

  void dispatch(const Event& event, std::remove_reference_t<Args>&... args) const {
    const std::shared_ptr<List> list = found(event);
    if (list != nullptr) list->callWith(args...);
  }

 private:
  // Null: no listener was ever added.
  std::shared_ptr<List> found(const Event& event) const {
    const Lock lock(mutex_);
    const auto at = map_.find(event);
    return at != map_.end() ? at->second : nullptr;
  }
  std::shared_ptr<List> made(const Event& event) {
    const Lock lock(mutex_);
    std::shared_ptr<List>& list = map_[event];
    if (list == nullptr) list = std::make_shared<List>();
    return list;
  }
  Map copied() const {
    Map copy;
    const Lock lock(mutex_);
    for (const auto& [event, list] : map_) copy[event] = std::make_shared<List>(*list);
    return copy;
  }

  mutable typename Threading::Mutex mutex_;
  Map map_;
};

}  // namespace eventpp::internal
