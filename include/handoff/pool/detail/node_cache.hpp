// SPDX-License-Identifier: MIT
//
// Empty task nodes that a worker keeps for itself. Not for users.
//
// A node is given back by the thread that ran its task, which need not be the one that filled it.
// So a worker whose tasks are all stolen would run out of nodes while its thieves drown in them: a
// cache that has too many passes a batch to the pool's TaskStore, one that has none takes one
// there. Concurrency: its worker's. Allocates: as TaskStore.
#pragma once

#include <cstddef>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TaskStore;

class NodeCache {
 public:
  // The number of nodes that go to the store or come from it at once.
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t batch = 2;  // a model has room for few atomics
#else
  static constexpr std::size_t batch = 64;
#endif

  explicit NodeCache(TaskStore& store) noexcept : store_(store) {}
  NodeCache(const NodeCache&) = delete;
  NodeCache& operator=(const NodeCache&) = delete;

  // Throws std::bad_alloc.
  Task* take() {
    if (first_ == nullptr) [[unlikely]]
      take_batch();
    sync::taken(sync::end_of(first_));
    --count_;
    return std::exchange(first_, first_->spare.next);
  }

  void give(Task* node) noexcept {
    node->spare.next = first_;
    first_ = node;
    if (++count_ >= 3 * batch) [[unlikely]]
      give_batch();
  }

 private:
  template <class>
  friend struct Books;

  void take_batch();
  void give_batch() noexcept;

  TaskStore& store_;
  Task* first_ = nullptr;
  std::size_t count_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
