// SPDX-License-Identifier: MIT
//
// From a callable to a task in its place. Not for users.
//
// The place is reserved first and the closure made in it, so a refusal moves nothing; memory for a
// closure that does not fit is had before that. If making the closure throws, the place holds a
// task that does nothing and is counted as cancelled.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// `make(task)` makes the closure and returns its kind.
template <class Reserve, class Make>
Status hand_over_made(Engine& engine, Reserve&& reserve, Make&& make) {
  const Placement placement = reserve();
  if (placement.task == nullptr) [[unlikely]] {
    if (!placement.run_here) return placement.status;
    Task task;
    const TaskKind* kind = &StillbornKind::kind;
    struct Run {
      Engine& engine;
      Task& task;
      const TaskKind*& kind;
      ~Run() {
        task.kind.store(kind, sync::order::relaxed);  // order: relaxed, this thread's own
        engine.run_refused(task);
      }
    } const run{engine, task, kind};
    kind = &make(task);
    return Status::ok;
  }
  const TaskKind* kind = &StillbornKind::kind;
  struct Publish {
    Engine& engine;
    const Placement& placement;
    const TaskKind*& kind;
    ~Publish() { engine.publish(placement, *kind); }
  } const publish{engine, placement, kind};
  kind = &make(*placement.task);
  return Status::ok;
}

// The task leads to something of its maker's, whose type `kind` knows.
template <class Target, class Reserve>
Status hand_over_pointer(Engine& engine, Reserve&& reserve, Target* target, const TaskKind& kind) {
  return hand_over_made(engine, reserve, [target, &kind](Task& task) -> const TaskKind& {
    ::new (static_cast<void*>(task.storage)) Target*(target);
    return kind;
  });
}

// The closure is Closure(given...).
template <class Closure, class Reserve, class... Given>
Status hand_over_as(Engine& engine, Reserve&& reserve, Given&&... given) {
  if constexpr (Task::fits<Closure>) {
    return hand_over_made(engine, reserve, [&](Task& task) -> const TaskKind& {
      ::new (static_cast<void*>(task.storage)) Closure(std::forward<Given>(given)...);
      return InlineKind<Closure>::kind;
    });
  } else {
    RawBox<Closure> box;
    return hand_over_made(engine, reserve, [&](Task& task) -> const TaskKind& {
      ::new (static_cast<void*>(task.storage)) Closure*(box.make(std::forward<Given>(given)...));
      return BoxedKind<Closure>::kind;
    });
  }
}

template <class Reserve, class F>
Status hand_over(Engine& engine, Reserve&& reserve, F&& function) {
  return hand_over_as<std::decay_t<F>>(engine, reserve, std::forward<F>(function));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
