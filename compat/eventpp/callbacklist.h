// SPDX-License-Identifier: MIT
//
// eventpp's CallbackList: callbacks that are called together, in their order.
//
//   eventpp::CallbackList<void(int)> list;
//   auto handle = list.append([](int n) { ... });
//   list(3);
//   list.remove(handle);
//
// For: programs written against eventpp. Not for: new ones, see handoff::CallbackList.
// Concurrency: any threads call, add and remove; copying, moving, swapping and the end of a list
// beside other calls as for any container. With SingleThreading one thread.
// - Order: as appended. A callback added in a pass is not called in it; one removed, by whichever
//   thread, is not called any more once a pass has not come to it.
// - Blocks: never, with the default policies; with an own mutex, on that, while no callback runs.
// - Allocates: adding. Throws: adding, what copying a callback throws, and what a callback throws.
// - A handle is weak, and false once its callback is gone. One of another list is not found.
// - Copies have callbacks of their own; what is moved or swapped keeps its handles.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>
#include <utility>

#include <eventpp/eventpolicies.h>
#include <eventpp/internal/pass_list.hpp>

namespace eventpp {

template <class Prototype, class Policies = DefaultPolicies>
class CallbackList;

template <class R, class... Args, class Policies>
class CallbackList<R(Args...), Policies> {
  static_assert((!std::is_rvalue_reference_v<Args> && ...),
                "callbacks share the arguments, so none of them may be moved from");

 public:
  using Callback = typename internal::CallbackOf<Policies, R(Args...)>::type;
  using Mutex = typename internal::ThreadingOf<Policies>::type::Mutex;

 private:
  using List = internal::PassList<Policies, Callback, R, Args...>;

 public:
  using Handle = typename List::Handle;

  CallbackList() noexcept = default;

  void swap(CallbackList& other) noexcept { list_.swap(other.list_); }
  friend void swap(CallbackList& a, CallbackList& b) noexcept { a.swap(b); }

  bool empty() const { return list_.empty(); }
  operator bool() const { return !empty(); }  // NOLINT(google-explicit-constructor)

  // `callback` is what makes a Callback.
  template <class F = Callback>
  Handle append(F&& callback) {
    return list_.add(std::forward<F>(callback), internal::AddedAt::back);
  }
  template <class F = Callback>
  Handle prepend(F&& callback) {
    return list_.add(std::forward<F>(callback), internal::AddedAt::front);
  }
  // Behind all others if `before` is not in this list.
  template <class F = Callback>
  Handle insert(F&& callback, const Handle& before) {
    return list_.add(std::forward<F>(callback), internal::AddedAt::before, before);
  }

  bool remove(const Handle& handle) { return list_.remove(handle); }
  bool ownsHandle(const Handle& handle) const { return list_.owns(handle); }

  // func(handle, callback) or func(callback) for each; it may add and remove.
  template <class Func>
  void forEach(Func&& func) const {
    list_.visit([&](const Handle& handle, const Callback& callback) {
      internal::visit_with(func, handle, callback);
      return true;
    });
  }
  // Until it says false; whether it never did.
  template <class Func>
  bool forEachIf(Func&& func) const {
    return list_.visit([&](const Handle& handle, const Callback& callback) {
      return static_cast<bool>(internal::visit_with(func, handle, callback));
    });
  }

  // Calls them all; results are dropped.
  void operator()(Args... args) const { list_.call(args...); }

  // The same with the caller's own arguments, where those by value were copied before. Ours, for
  // dispatchers.
  void callWith(std::remove_reference_t<Args>&... args) const { list_.call(args...); }

  // Calls them as long as they say true; whether all did. Ours, for filters.
  bool callWhile(Args... args) const { return list_.call_while(args...); }

 private:
  List list_;
};

}  // namespace eventpp
