// SPDX-License-Identifier: MIT
//
// A piece of work inside a pool: one cache line with the closure in it. Not for users.
//
// A Task is a place rather than a value: it lies in a segment of the pool's queue or in a node of a
// worker, is filled there, moved at most from the one to the other, and emptied by being run or
// dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/limited.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class GroupTasks;
struct Task;

// What a task is called in a trace.
struct TaskName {
  const char* type;  // of its function, as type_name() says it; null: of none
  const char* given = "";  // by its options
};

// What all tasks with the same type of closure have in common.
struct TaskKind {
  // Calls the closure and destroys it, even if it throws.
  Outcome (*run)(Task& task);
  // Destroys the closure uncalled.
  Outcome (*drop)(Task& task, Outcome why) noexcept;
  // Null: its bytes are all there is to it.
  void (*move)(Task& from, Task& to) noexcept;
  // A closure that threw has left its name, a const char*, in its place.
  bool leaves_name = false;
  // Before it is run. Null: it has none.
  TaskName (*name)(Task& task) noexcept = nullptr;
};

struct alignas(sync::cache_line) Task {
  static constexpr std::size_t inline_bytes = 48;

  // Whether an F is kept inside.
  template <class F>
  static constexpr bool fits = sizeof(F) <= inline_bytes && alignof(F) <= alignof(void*) * 2 &&
                               std::is_nothrow_move_constructible_v<F>;

  struct Spare {
    Task* next;
    Task* next_batch;
  };
  union {
    alignas(2 * alignof(void*)) std::byte storage[inline_bytes];
    Spare spare;  // while in nobody's use (task_store.hpp)
  };
  sync::atomic<const TaskKind*> kind{nullptr};  // in a queue null says: not there yet
  sync::cell<GroupTasks*> group;  // that waits for it

  Task() noexcept {}

  template <class T>
  T& as() noexcept {
    return *std::launder(reinterpret_cast<T*>(storage));
  }

  // Its closure is there: for a task in a queue, where claimers look for the kind.
  void publish(const TaskKind& its_kind) noexcept {
    // order: release pairs with the acquire in BasicTaskQueue::head_task(): the closure.
    kind.store(&its_kind, sync::order::release);
  }

  const TaskKind& kind_here() const noexcept {
    // order: relaxed, the thread that has the task got it by an acquire, from the queue or the
    // deque.
    return *kind.load(sync::order::relaxed);
  }

  Outcome run() { return kind_here().run(*this); }
  Outcome drop(Outcome why) noexcept { return kind_here().drop(*this, why); }

  void move_to(Task& to) noexcept {
    probe::move(probe::Kind::task, this, &to);
    const TaskKind& mine = kind_here();
    if (mine.move != nullptr) {
      mine.move(*this, to);
    } else {
      __builtin_memcpy(to.storage, storage, inline_bytes);  // <cstring> would be 200 lines more
    }
    to.group.write() = group.read();
    to.kind.store(&mine, sync::order::relaxed);  // order: relaxed, see kind_here()
  }
};
#if !defined(HANDOFF_EXPLORE)  // whose atomics are larger
static_assert(sizeof(Task) == sync::cache_line);
#endif

// Calls a closure, whatever it returns, unless it is stopped or late.
template <class F>
Outcome call_closure(F& function) {
  if constexpr (is_limited<F>) {
    const Outcome why = function.limits.whether();
    if (why != Outcome::done) return why;
  }
  if constexpr (std::is_same_v<std::invoke_result_t<F&>, Outcome>) {
    return detail::invoke(function);
  } else {
    detail::call_and_drop(function);
    return Outcome::done;
  }
}

// For a closure that has to say why it was not called.
template <class F>
void tell_dropped(F& function, Outcome why) noexcept {
  if constexpr (requires { function.dropped(why); }) function.dropped(why);
}

// The closure's end, known to the sanitizer at the group that may be waited for.
struct GroupTurn {
  [[gnu::always_inline]] explicit GroupTurn([[maybe_unused]] Task& task) noexcept {
#if defined(HANDOFF_SANITIZES_THREADS)
    sync::taken(&task);
    group = task.group.read();
#endif
  }
#if defined(HANDOFF_SANITIZES_THREADS)
  ~GroupTurn() {
    if (group != nullptr) sync::given(sync::end_of(group));
  }
  GroupTurn(const GroupTurn&) = delete;
  GroupTurn& operator=(const GroupTurn&) = delete;

  const void* group;
#endif
};

// The name of a closure, left where that was.
struct LeaveName {
  template <class F>
  LeaveName(Task& its_task, const F& function) noexcept
      : task(its_task), name(function.limits.name) {}
  ~LeaveName() { ::new (static_cast<void*>(task.storage)) const char*(name); }
  LeaveName(const LeaveName&) = delete;
  LeaveName& operator=(const LeaveName&) = delete;

  Task& task;
  const char* const name;
};
struct LeaveNothing {
  template <class F>
  LeaveNothing(Task& /*task*/, const F& /*function*/) noexcept {}
};
template <class F>
using Leave = std::conditional_t<is_named<F>, LeaveName, LeaveNothing>;

template <class F>
TaskName name_of_closure(const F& /*function*/) noexcept {
  return {type_name<F>()};
}
template <class L, class F>
TaskName name_of_closure(const Limited<L, F>& function) noexcept {
  if constexpr (is_named<Limited<L, F>>) return {type_name<F>(), function.limits.name};
  return {type_name<F>()};
}

// A closure inside the task.
template <class F>
struct InlineKind {
  struct End {
    F& function;
    ~End() { std::destroy_at(std::addressof(function)); }
  };
  static Outcome run(Task& task) {
    const GroupTurn turn(task);
    [[maybe_unused]] const Leave<F> leave(task, task.as<F>());
    const End end{task.as<F>()};
    return call_closure(end.function);
  }
  static Outcome drop(Task& task, Outcome why) noexcept {
    const GroupTurn turn(task);
    const End end{task.as<F>()};
    tell_dropped(end.function, why);
    return why;
  }
  static void move(Task& from, Task& to) noexcept {
    std::construct_at(reinterpret_cast<F*>(to.storage), std::move(from.as<F>()));
    std::destroy_at(std::addressof(from.as<F>()));
    sync::given(&to);
    sync::given(sync::end_of(&from));
  }
  static TaskName name(Task& task) noexcept {
    sync::taken(&task);
    return name_of_closure(task.as<F>());
  }
  [[gnu::visibility("hidden")]]  // docs/adr/0013
  static constexpr TaskKind kind{&run, &drop, std::is_trivially_copyable_v<F> ? nullptr : &move,
                                 is_named<F>, &name};
};

// A closure beside the task: too large, too aligned or dangerous to move.
template <class F>
struct BoxedKind {
  using Owner = typename RawBox<F>::Owner;

  static Outcome run(Task& task) {
    const GroupTurn turn(task);
    [[maybe_unused]] const Leave<F> leave(task, *task.as<F*>());
    const Owner owner(task.as<F*>());
    return call_closure(*owner);
  }
  static Outcome drop(Task& task, Outcome why) noexcept {
    const GroupTurn turn(task);
    const Owner owner(task.as<F*>());
    tell_dropped(*owner, why);
    return why;
  }
  static TaskName name(Task& task) noexcept {
    sync::taken(&task);
    return name_of_closure(*task.as<F*>());
  }
  [[gnu::visibility("hidden")]]
  static constexpr TaskKind kind{&run, &drop, nullptr, is_named<F>, &name};
};

// What is left of a task whose closure threw while it was made.
struct StillbornKind {
  static Outcome run(Task& /*task*/) { return Outcome::cancelled; }
  static Outcome drop(Task& /*task*/, Outcome /*why*/) noexcept { return Outcome::cancelled; }
  [[gnu::visibility("hidden")]] static constexpr TaskKind kind{&run, &drop, nullptr};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
