// SPDX-License-Identifier: MIT
//
// A worker as the place of a task that waits.
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <utility>

#include "engine_parts.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

template class StealDeque<detail::Task*>;

namespace detail {

Worker::Worker(Engine& pool, std::size_t number, TaskStore& store, bool is_guest)
    : Workplace(pool, number),
      engine(pool),
      guest(is_guest),
      spawned(deque_tasks),
      claimed(deque_tasks),
      nodes(store),
      place(number),
      taken(false),
      part_of(nullptr) {}

Worker::~Worker() = default;

void Worker::run_inside(const Call& call) noexcept {
  engine.runner().with_stack([this, &call]() noexcept {
    const std::int64_t below = std::exchange(base, spawned.height());
    call.function(call.argument);
    base = below;
  });
}

// Not of a guest, whose thread is not the pool's to replace.
void Worker::begin_blocking() noexcept {
  if ((guest && !spare) || blocking++ != 0) return;
  replaced = engine.lend();
}
void Worker::end_blocking() noexcept {
  if ((guest && !spare) || --blocking != 0) return;
  if (replaced) engine.take_back();
}

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
