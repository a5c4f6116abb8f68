// SPDX-License-Identifier: MIT
//
// Empty task nodes: what workers share, and what each keeps for itself. Not for users.
//
// A node is given back by the thread that ran its task, which need not be the one that filled it.
// So a worker whose tasks are all stolen would run out of nodes while its thieves drown in them:
// whoever has too many passes a batch to the shared store, whoever has none takes one from there.
// Concurrency: TaskStore anybody's; a NodeCache is its worker's.
// Allocates: a chunk, when the store is empty. Nodes are freed with the store only: a pool keeps
// the memory of the largest number of tasks its workers ever held.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TaskStore {
 public:
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t batch = 2;  // a model has room for few atomics
#else
  static constexpr std::size_t batch = 64;
#endif

  TaskStore() noexcept = default;
  ~TaskStore() {
    std::unique_ptr<Chunk> chunk(std::move(chunks_.write()));
    while (chunk) chunk = std::move(chunk->next);
  }
  TaskStore(const TaskStore&) = delete;
  TaskStore& operator=(const TaskStore&) = delete;

  // `batch` nodes, linked by spare.next, the last one's null. Throws std::bad_alloc.
  Task* take_batch() {
    {
      const sync::Lock lock(mutex_);
      if (Task* const first = batches_.read()) {
        batches_.write() = first->spare.next_batch;
        return first;
      }
    }
    auto chunk = std::make_unique<Chunk>();
    for (std::size_t i = 0; i < batch; ++i) {
      chunk->nodes[i].spare.next = i + 1 < batch ? &chunk->nodes[i + 1] : nullptr;
    }
    Task* const first = chunk->nodes;
    const sync::Lock lock(mutex_);
    chunk->next = std::move(chunks_.write());
    chunks_.write() = std::move(chunk);
    return first;
  }

  void give_batch(Task* first) noexcept {
    const sync::Lock lock(mutex_);
    first->spare.next_batch = batches_.read();
    batches_.write() = first;
  }

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

class NodeCache {
 public:
  explicit NodeCache(TaskStore& store) noexcept : store_(store) {}
  NodeCache(const NodeCache&) = delete;
  NodeCache& operator=(const NodeCache&) = delete;

  // Throws std::bad_alloc.
  Task* take() {
    if (first_ == nullptr) [[unlikely]] {
      first_ = store_.take_batch();
      count_ = TaskStore::batch;
    }
    --count_;
    return std::exchange(first_, first_->spare.next);
  }

  void give(Task* node) noexcept {
    node->spare.next = first_;
    first_ = node;
    if (++count_ >= 3 * TaskStore::batch) [[unlikely]]
      give_batch();
  }

 private:
  template <class>
  friend struct Books;

  void give_batch() noexcept {
    Task* const first = first_;
    Task* last = first;
    for (std::size_t i = 1; i < TaskStore::batch; ++i) last = last->spare.next;
    first_ = std::exchange(last->spare.next, nullptr);
    count_ -= TaskStore::batch;
    store_.give_batch(first);
  }

  TaskStore& store_;
  Task* first_ = nullptr;
  std::size_t count_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
