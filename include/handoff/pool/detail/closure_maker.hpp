// SPDX-License-Identifier: MIT
//
// How a task is made in its place: the closure inside it, beside it, or as a pointer to something
// of the maker's. Not for users.
//
// A maker is made before there is a place, so what it needs of memory it has by then; its make() is
// called at most once.
// Concurrency: its thread's.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/pool/detail/task.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A copy that may throw is made before there is a place: a task that has one is accepted.
template <class Given>
concept CopyMayThrow =
    std::is_lvalue_reference_v<Given> && std::is_constructible_v<std::decay_t<Given>, Given> &&
    !std::is_nothrow_constructible_v<std::decay_t<Given>, Given>;
template <class Given>
std::conditional_t<CopyMayThrow<Given>, std::decay_t<Given>, Given&&> copied_first(
    std::remove_reference_t<Given>& given) {
  return static_cast<Given&&>(given);
}

// The task calls Closure(given...). Throws std::bad_alloc, if it does not fit inside.
template <class Closure, bool kInside = Task::fits<Closure>>
class ClosureMaker {
 public:
  template <class... Given>
  const TaskKind& make(Task& task, Given&&... given) {
    ::new (static_cast<void*>(task.storage)) Closure(std::forward<Given>(given)...);
    return InlineKind<Closure>::kind;
  }
};

template <class Closure>
class ClosureMaker<Closure, false> {
 public:
  template <class... Given>
  const TaskKind& make(Task& task, Given&&... given) {
    ::new (static_cast<void*>(task.storage)) Closure*(box_.make(std::forward<Given>(given)...));
    return BoxedKind<Closure>::kind;
  }

 private:
  RawBox<Closure> box_;
};

// The task leads to something whose type `kind` knows.
template <class Target>
class PointerMaker {
 public:
  PointerMaker(Target* target, const TaskKind& kind) noexcept : target_(target), kind_(kind) {}

  const TaskKind& make(Task& task) noexcept {
    ::new (static_cast<void*>(task.storage)) Target*(target_);
    return kind_;
  }

 private:
  Target* const target_;
  const TaskKind& kind_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
