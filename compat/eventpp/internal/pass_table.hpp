// SPDX-License-Identifier: MIT
//
// From events to their listeners, where the policies leave map and locking to us: the hub of a
// handoff::EventDispatcher, whose passes take no lock.
//
// Not for: users. Concurrency: as PassList.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include <handoff/event/internal/event_hub.hpp>
#include <handoff/event/internal/listener_access.hpp>

#include <eventpp/internal/lazy.hpp>
#include <eventpp/internal/pass_list.hpp>
#include <eventpp/internal/policies.hpp>

namespace eventpp::internal {

template <class Policies, class Event, class Callback, class R, class... Args>
class PassTable {
  using Functions = PassFunctions<Callback, R, Args...>;

 public:
  using Handle = PassHandle;
  using Hub = handoff::detail::EventHub<Event, NativePolicies<Policies, Event>, R, Args...>;

  PassTable() noexcept = default;
  PassTable(const PassTable& other) { copy_from(other); }
  PassTable(PassTable&& other) noexcept = default;
  PassTable& operator=(PassTable other) noexcept {
    swap(other);
    return *this;
  }

  void swap(PassTable& other) noexcept { hub_.swap(other.hub_); }

  template <class F>
  Handle add(const Event& event, F&& function, AddedAt place, const Handle& before = {}) {
    ListenerRef made = Functions::make(std::forward<F>(function));
    hub_.made().add(event, made, place, ListenerAccess::listener(before.native()));
    return Handle(ListenerAccess::handle(std::move(made)));
  }

  bool remove(const Event& event, const Handle& handle) {
    return owns(event, handle) && handle.native().remove();
  }
  bool owns(const Event& event, const Handle& handle) const {
    return with_list(event, false, [&](ListenerList& list) {
      return handle && &ListenerAccess::listener(handle.native())->list() == &list;
    });
  }
  bool has(const Event& event) const {
    return with_list(event, false, [](ListenerList& list) { return !list.empty(); });
  }

  template <class Visitor>
  bool visit(const Event& event, Visitor&& visitor) const {
    return with_list(event, true,
                     [&](ListenerList& list) { return Functions::visit(list, visitor); });
  }

  // Null: there was never a listener.
  Hub* hub() const noexcept { return hub_.get(); }

  void dispatch(const Event& event, std::remove_reference_t<Args>&... args) const {
    const Hub* const hub = hub_.get();
    if (hub == nullptr) return;
    Pass pass(hub);
    hub->dispatch(pass, event, args...);
  }

 private:
  // `use(list)` in a pass over it, or what is said where there is none.
  template <class Use>
  bool with_list(const Event& event, bool otherwise, Use&& use) const {
    const Hub* const hub = hub_.get();
    if (hub == nullptr) return otherwise;
    const Pass pass(hub);
    ListenerList* const list = hub->find(event);
    return list != nullptr ? use(*list) : otherwise;
  }

  void copy_from(const PassTable& other) {
    const Hub* const hub = other.hub_.get();
    if (hub == nullptr) return;
    const Pass pass(hub);
    hub->for_each([&](const Event& event, ListenerList& list) {
      Functions::copy_all(list, [&](const ListenerRef& copy) {
        hub_.made().add(event, copy, AddedAt::back, nullptr);
      });
    });
  }

  static Hub* make() { return Hub::make(); }
  static void close(Hub* hub) noexcept { hub->close(); }

  Lazy<Hub, &PassTable::make, &PassTable::close> hub_;
};

}  // namespace eventpp::internal
