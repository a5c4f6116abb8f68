// SPDX-License-Identifier: MIT
//
// The nodes that hold users' functions: one kind each for a plain listener, for one with an end of
// its own (a number of calls, or a condition), and for one that runs on an executor.
//
// For: CallbackList, EventDispatcher and EventQueue. Not for: users.
// A node is called through one pointer with the list's arguments. By-value arguments that are small
// and trivial travel as they are, others as references to const: listeners share them.
#pragma once

#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/take_one.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/event/listener_options.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
using ListenerArgument = std::conditional_t<
    std::is_reference_v<T>, T,
    std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(void*), T,
                       const T&>>;

template <class F>
bool is_empty_function(const F& function) noexcept {
  if constexpr (std::is_function_v<F>) {
    return false;  // by its name, not by a pointer
  } else if constexpr (requires { function == nullptr; }) {
    return function == nullptr;
  } else if constexpr (requires { !function.operator bool(); }) {
    return !static_cast<bool>(function);
  } else {
    return false;
  }
}

// `Base`, a Listener, is what makes a node more than a holder of F.
template <class F, class Base>
class ListenerNode final : public Base {
 public:
  template <class G, class... BaseArgs>
  static ListenerRef make(Listener::Call call, int priority, G&& function, BaseArgs&&... base) {
    return ListenerRef(RawBox<ListenerNode>().make(call, priority, std::forward<G>(function),
                                                   std::forward<BaseArgs>(base)...));
  }

  F& function() noexcept { return function_; }

 private:
  friend class RawBox<ListenerNode>;

  template <class G, class... BaseArgs>
  ListenerNode(Listener::Call call, int priority, G&& function, BaseArgs&&... base)
      : Base(kKind, call, priority, std::forward<BaseArgs>(base)...),
        function_(std::forward<G>(function)) {}
  ~ListenerNode() {}  // the function has ended before

  static void end(Listener& self) noexcept {
    sync::taken(sync::end_of(&self));
    std::destroy_at(&static_cast<ListenerNode&>(self).function_);
  }
  static void deallocate(Listener& self) noexcept {
    RawBox<ListenerNode>::destroy(&static_cast<ListenerNode&>(self));
  }
  [[gnu::visibility("hidden")]]  // docs/adr/0013
  static constexpr Listener::Kind kKind{&ListenerNode::end, &ListenerNode::deallocate};

  union {
    F function_;
  };
};

struct PlainListener : Listener {
  using Listener::Listener;
};

struct CountedListener : Listener {
  CountedListener(const Kind& kind, Call call, int priority, std::uint32_t calls) noexcept
      : Listener(kind, call, priority), left(calls) {}
  sync::atomic<std::uint32_t> left;

  // True if one more call may be made. The last one removes the listener first.
  bool claim() noexcept {
    const std::uint32_t now = take_one(left);
    if (now == 0) return false;
    if (now == 1) ListenerList::remove(*this);
    return true;
  }
};

template <class Condition>
struct ConditionalListener : Listener {
  template <class C>
  ConditionalListener(const Kind& kind, Call call, int priority, C&& asked)
      : Listener(kind, call, priority), condition(std::forward<C>(asked)) {}
  Condition condition;
};

template <class E>
struct ExecutorListener : Listener {
  ExecutorListener(const Kind& kind, Call call, int priority, E* runs) noexcept
      : Listener(kind, call, priority), executor(runs) {}
  E* executor;
};

template <class R, class... Args>
struct ListenerFunctions {
  using Call = R (*)(Listener&, ListenerArgument<Args>...);

  template <class F>
  static ListenerRef make(F&& function, const ListenerOptions& options) {
    using Function = std::decay_t<F>;
    static_assert(std::is_invocable_r_v<R, Function&, ListenerArgument<Args>&...>,
                  "a listener takes the arguments of the signature: see adapt() for others");
    if (is_empty_function(function)) {
      misuse("an empty function was added as a listener; test it first");
    }
    if (options.calls == 0) {
      return make_as<PlainListener>(std::forward<F>(function), options.priority);
    }
    if constexpr (std::is_void_v<R>) {
      using Node = ListenerNode<Function, CountedListener>;
      return Node::make(erase(&call_counted<Node>), options.priority, std::forward<F>(function),
                        options.calls);
    } else {
      misuse("a listener with a result was added for a number of calls; count in the function");
    }
  }

  // In a node that is more than a listener, though it is called like any.
  template <class Base, class F, class... BaseArgs>
  static ListenerRef make_as(F&& function, int priority, BaseArgs&&... base) {
    using Node = ListenerNode<std::decay_t<F>, Base>;
    return Node::make(erase(&call_plain<Node>), priority, std::forward<F>(function),
                      std::forward<BaseArgs>(base)...);
  }

  template <class Condition, class F>
  static ListenerRef make_until(Condition&& condition, F&& function, int priority) {
    if (is_empty_function(condition) || is_empty_function(function)) {
      misuse("an empty function was added as a listener or as its condition; test it first");
    }
    using Node = ListenerNode<std::decay_t<F>, ConditionalListener<std::decay_t<Condition>>>;
    return Node::make(erase(&call_until<Node>), priority, std::forward<F>(function),
                      std::forward<Condition>(condition));
  }

  // The first listener of a list that holds a function equal to this one, added plainly or for a
  // number of calls; or none. In a pass over the list or what owns it.
  template <class F>
  static ListenerRef find(const ListenerList& list, const F& function) {
    ListenerRef found;
    (void)list.for_each([&](Listener::Call call, Listener& listener) {
      if (!holds(call, listener, function)) return true;
      listener.retain();
      found = ListenerRef(&listener);
      return false;
    });
    return found;
  }

  template <class E, class F>
  static ListenerRef make_on(E& executor, F&& function, int priority) {
    if (is_empty_function(function)) {
      misuse("an empty function was added as a listener; test it first");
    }
    using Node = ListenerNode<std::decay_t<F>, ExecutorListener<E>>;
    return Node::make(erase(&call_on<Node>), priority, std::forward<F>(function), &executor);
  }

 private:
  static Listener::Call erase(Call call) noexcept { return reinterpret_cast<Listener::Call>(call); }

  // What a node calls tells its type: each has a function of its own.
  template <class F>
  static bool holds(Listener::Call call, Listener& listener, const F& function) {
    using Plain = ListenerNode<F, PlainListener>;
    if (call == erase(&call_plain<Plain>)) {
      return static_cast<Plain&>(listener).function() == function;
    }
    if constexpr (std::is_void_v<R>) {
      using Counted = ListenerNode<F, CountedListener>;
      if (call == erase(&call_counted<Counted>)) {
        return static_cast<Counted&>(listener).function() == function;
      }
    }
    return false;
  }

  template <class F>
  static R invoke(F& function, ListenerArgument<Args>... args) {
    if constexpr (std::is_void_v<R>) {
      detail::call_and_drop(function, static_cast<ListenerArgument<Args>&>(args)...);
    } else {
      return detail::invoke(function, static_cast<ListenerArgument<Args>&>(args)...);
    }
  }

  template <class Node>
  static R call_plain(Listener& self, ListenerArgument<Args>... args) {
    return invoke(static_cast<Node&>(self).function(), args...);
  }

  template <class Node>
  static void call_counted(Listener& self, ListenerArgument<Args>... args) {
    auto& node = static_cast<Node&>(self);
    if (node.claim()) invoke(node.function(), args...);
  }

  template <class Node>
  static R call_until(Listener& self, ListenerArgument<Args>... args) {
    auto& node = static_cast<Node&>(self);
    if (static_cast<bool>(
            detail::invoke(node.condition, static_cast<ListenerArgument<Args>&>(args)...))) {
      ListenerList::remove(self);
    }
    return invoke(node.function(), args...);
  }

  // The task keeps the node, not the function: that it finds in a pass of its own, if it is still
  // attached. So remove_and_wait() waits for it as for any pass.
  template <class Node>
  static R call_on(Listener& self, ListenerArgument<Args>... args) {
    static_assert(std::is_void_v<R>, "a listener on an executor has no result to give");
    self.retain();
    auto task = [node = ListenerRef(&self),
                 values = std::tuple<std::decay_t<Args>...>(args...)]() mutable {
      const Pass pass(&node.get()->list());
      if (!node.get()->attached()) return;
      const sync::Called called(node.get());
      std::apply(
          [&](auto&... value) {
            detail::call_and_drop(static_cast<Node*>(node.get())->function(), value...);
          },
          values);
    };
    // A refused task is still ours: then here.
    if (static_cast<Node&>(self).executor->try_post(std::move(task)) != Status::ok) task();
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
