// SPDX-License-Identifier: MIT
//
// The listeners of a CallbackList: a list of event/, whose passes take no lock.
//
// A function is kept as it was given, not as a std::function; the std::function is made when
// forEach() wants to see one. A mutex that somebody can watch is taken all the same: for a change,
// and for a moment at the beginning of a pass.
// Not for: users. Concurrency: as handoff::CallbackList; copying, moving and the end of the list
// beside other calls as for any container.
#pragma once

#include <mutex>
#include <type_traits>
#include <utility>

#include <handoff/event/internal/listener_access.hpp>
#include <handoff/event/internal/listener_function.hpp>
#include <handoff/event/internal/listener_pass.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/memory/internal/epochs.hpp>

#include <eventpp/internal/lazy.hpp>
#include <eventpp/internal/policies.hpp>

namespace eventpp::internal {

using handoff::detail::AddedAt;
using handoff::detail::Garbage;
using handoff::detail::Listener;
using handoff::detail::ListenerAccess;
using handoff::detail::ListenerList;
using handoff::detail::ListenerRef;
using handoff::detail::Pass;

// Weak: does not keep the callback. True while it is in its list.
class PassHandle {
 public:
  PassHandle() noexcept = default;
  explicit PassHandle(handoff::ListenerHandle handle) noexcept : handle_(std::move(handle)) {}
  explicit operator bool() const noexcept { return handle_.attached(); }
  bool expired() const noexcept { return !handle_.attached(); }
  const handoff::ListenerHandle& native() const noexcept { return handle_; }
  friend bool operator==(const PassHandle& a, const PassHandle& b) noexcept {
    return a.handle_ == b.handle_;
  }

 private:
  handoff::ListenerHandle handle_;
};

// A listener that can be copied to another list and shown as a Callback.
template <class Callback>
struct CopiedListener : Listener {
  using Copy = ListenerRef (*)(const Listener& self);
  using Show = void (*)(const Listener& self, void* context, void (*see)(void*, const Callback&));

  CopiedListener(const Kind& kind, Call call, int priority, Copy copies, Show shows) noexcept
      : Listener(kind, call, priority), copy(copies), show(shows) {}
  const Copy copy;
  const Show show;
};

template <class Callback, class R, class... Args>
struct PassFunctions {
  using Functions = handoff::detail::ListenerFunctions<R, Args...>;
  using Base = CopiedListener<Callback>;

  // What a listener can be called with as it is, without becoming a Callback first.
  template <class F>
  static constexpr bool kept_as_it_is =
      std::is_same_v<Callback, std::function<R(Args...)>> && std::is_class_v<F> &&
      !std::is_same_v<F, Callback> && std::is_copy_constructible_v<F> &&
      std::is_invocable_v<F&, handoff::detail::ListenerArgument<Args>&...>;

  // A list that is only looked through may hold anything. A std::function is not asked: for an
  // argument by value the answer would depend on whether its class is complete here.
  template <class F>
  static constexpr bool can_be_called =
      is_std_function<F> || std::is_invocable_v<F&, handoff::detail::ListenerArgument<Args>&...>;

  template <class F>
  static ListenerRef make(F&& function) {
    using Function = std::decay_t<F>;
    if constexpr (!can_be_called<Function> && std::is_same_v<Function, Callback>) {
      return handoff::detail::ListenerNode<Function, Base>::make(
          &never, 0, std::forward<F>(function), &copy<Function>, &show<Function>);
    } else if constexpr (kept_as_it_is<Function> || std::is_same_v<Function, Callback>) {
      return Functions::template make_as<Base>(std::forward<F>(function), 0, &copy<Function>,
                                               &show<Function>);
    } else {
      return make(Callback(std::forward<F>(function)));
    }
  }

  // visitor(handle, callback) for each of a list, until it says false; whether it never did.
  template <class Visitor>
  static bool visit(ListenerList& list, Visitor& visitor) {
    struct Context {
      Visitor& visitor;
      PassHandle handle = {};
      bool go_on = true;
    } context{visitor};
    list.visit(
        [](void* pointer, ListenerRef listener) {
          auto& now = *static_cast<Context*>(pointer);
          if (!now.go_on) return;
          const auto& seen = static_cast<const Base&>(*listener.get());
          now.handle = PassHandle(ListenerAccess::handle(std::move(listener)));
          seen.show(seen, pointer, [](void* to, const Callback& callback) {
            auto& again = *static_cast<Context*>(to);
            again.go_on = again.visitor(std::as_const(again.handle), callback);
          });
        },
        &context);
    return context.go_on;
  }

  // Copies of a list's callbacks, in order.
  template <class Add>
  static void copy_all(ListenerList& list, Add&& add) {
    static_assert(is_std_function<Callback> || std::is_copy_constructible_v<Callback>,
                  "a list is copied with its callbacks");
    list.visit(
        [](void* to, ListenerRef listener) {
          const auto& base = static_cast<const Base&>(*listener.get());
          (*static_cast<std::remove_reference_t<Add>*>(to))(base.copy(base));
        },
        std::addressof(add));
  }

 private:
  template <class Function>
  static const Function& function_of(const Listener& listener) noexcept {
    using Node = handoff::detail::ListenerNode<Function, Base>;
    return const_cast<Node&>(static_cast<const Node&>(listener)).function();
  }
  // Stands where a call would: PassList::call() does not compile for such callbacks.
  static void never() {}

  template <class Function>
  static ListenerRef copy([[maybe_unused]] const Listener& listener) {
    if constexpr (std::is_copy_constructible_v<Function>) {
      return make(function_of<Function>(listener));
    } else {
      return {};  // copy_all() does not compile
    }
  }
  template <class Function>
  static void show(const Listener& listener, void* context, void (*see)(void*, const Callback&)) {
    if constexpr (std::is_same_v<Function, Callback>) {
      see(context, function_of<Function>(listener));
    } else {
      see(context, Callback(function_of<Function>(listener)));
    }
  }
};

// A lock of the policies' mutex, where somebody can see it; else nothing.
template <class Threading>
class SeenLock {
 public:
  using Mutex = typename Threading::Mutex;
  explicit SeenLock(Mutex& mutex) : lock_(mutex) {}

 private:
  const std::lock_guard<Mutex> lock_;
};
template <class Threading>
  requires NoLockSeen<Threading>
class SeenLock<Threading> {
 public:
  struct Mutex {};
  explicit SeenLock(Mutex&) noexcept {}
  ~SeenLock() {}  // not trivial: it is no unused variable
};

template <class Policies, class Callback, class R, class... Args>
class PassList {
  using Functions = PassFunctions<Callback, R, Args...>;
  using Calls = handoff::detail::ListenerPass<Args...>;
  using Threading = typename ThreadingOf<Policies>::type;
  using Lock = SeenLock<Threading>;

 public:
  using Handle = PassHandle;

  PassList() noexcept = default;
  PassList(const PassList& other) {
    const Lock lock(other.mutex_);
    copy_from(other);
  }
  PassList(PassList&& other) noexcept : list_(std::move(other.list_)) {}
  PassList& operator=(PassList other) noexcept {
    swap(other);
    return *this;
  }

  void swap(PassList& other) noexcept { list_.swap(other.list_); }

  bool empty() const noexcept { return list() == nullptr || list()->empty(); }

  template <class F>
  Handle add(F&& function, AddedAt place, const Handle& before = {}) {
    ListenerRef made = Functions::make(std::forward<F>(function));
    Garbage garbage;
    const Lock lock(mutex_);
    list_.made().add(made, place, ListenerAccess::listener(before.native()), garbage);
    return Handle(ListenerAccess::handle(std::move(made)));
  }

  // The callback may end in here: not under the lock.
  bool remove(const Handle& handle) { return owns(handle) && handle.native().remove(); }
  bool owns(const Handle& handle) const {
    const Lock lock(mutex_);
    return handle && &ListenerAccess::listener(handle.native())->list() == list();
  }

  // visitor(handle, callback) for each, until it says false; whether it never did.
  template <class Visitor>
  bool visit(Visitor&& visitor) const {
    ListenerList* const seen = taken();
    return seen == nullptr || Functions::visit(*seen, visitor);
  }

  void call(std::remove_reference_t<Args>&... args) const {
    static_assert(Functions::template can_be_called<Callback>,
                  "the Callback of the policies cannot be called with these arguments");
    ListenerList* const called = taken();
    if (called == nullptr) return;
    const Pass pass(called);
    Calls::template run_all<R, NativePolicies<Policies, int>>(*called, args...);
  }

  // Until a callback says false; whether none did.
  bool call_while(std::remove_reference_t<Args>&... args) const {
    static_assert(Functions::template can_be_called<Callback>,
                  "the Callback of the policies cannot be called with these arguments");
    ListenerList* const called = taken();
    if (called == nullptr) return true;
    const Pass pass(called);
    return Calls::template run<R>(
        *called, [](auto&& one) { return static_cast<bool>(one()); }, args...);
  }

 private:
  ListenerList* list() const noexcept { return list_.get(); }
  ListenerList* taken() const {
    const Lock lock(mutex_);
    return list();
  }

  void copy_from(const PassList& other) {
    if (other.list() == nullptr) return;
    Functions::copy_all(*other.list(), [this](const ListenerRef& copy) {
      Garbage garbage;
      list_.made().add(copy, AddedAt::back, nullptr, garbage);
    });
  }

  static ListenerList* make() { return ListenerList::make(nullptr); }
  static void close(ListenerList* list) noexcept {
    Garbage garbage;
    list->close(garbage);
  }

  Lazy<ListenerList, &PassList::make, &PassList::close> list_;
  [[no_unique_address]] mutable typename Lock::Mutex mutex_;
};

}  // namespace eventpp::internal
