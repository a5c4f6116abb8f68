// SPDX-License-Identifier: MIT
//
// Empty task nodes that the workers of a pool share: in batches, which their NodeCaches give and
// take.
//
// Concurrency: anybody.
// Allocates: a chunk, when the store is empty. Nodes are freed with the store only: a pool keeps
// the memory of the largest number of tasks its workers ever held.
#pragma once

#include <cstddef>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/pool/detail/node_cache.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TaskStore {
 public:
  static constexpr std::size_t batch = NodeCache::batch;

  TaskStore() noexcept = default;
  ~TaskStore();
  TaskStore(const TaskStore&) = delete;
  TaskStore& operator=(const TaskStore&) = delete;

  // `batch` nodes, linked by spare.next, the last one's null. Throws std::bad_alloc.
  Task* take_batch();
  void give_batch(Task* first) noexcept;

 private:
  template <class>
  friend struct Books;

  struct Chunk {
    Task nodes[batch];
    std::unique_ptr<Chunk> next;
  };

  sync::Mutex mutex_;
  sync::cell<Task*> batches_;
  sync::cell<std::unique_ptr<Chunk>> chunks_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
