// SPDX-License-Identifier: MIT
//
// Batches of empty nodes, and where they come from.
#include "task_store.hpp"

#include <memory>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

TaskStore::~TaskStore() {
  // equivalent(return_early) all: each chunk ends the next one by itself, only deeper on the stack
  std::unique_ptr<Chunk> chunk(std::move(chunks_.write()));
  while (chunk) chunk = std::move(chunk->next);
}

Task* TaskStore::take_batch() {
  {
    const sync::Lock lock(mutex_);
    if (Task* const first = batches_.read()) {
      batches_.write() = first->spare.next_batch;
      return first;
    }
  }
  std::unique_ptr<Chunk> chunk;
  {
    const sync::MadeForAll unseen;
    chunk = std::make_unique<Chunk>();
  }
  // equivalent(bound): writes null behind the last node, where the link to the next chunk lies,
  // which is null still
  for (std::size_t i = 0; i < batch; ++i) {
    chunk->nodes[i].spare.next = i + 1 < batch ? &chunk->nodes[i + 1] : nullptr;
  }
  Task* const first = chunk->nodes;
  const sync::Lock lock(mutex_);
  chunk->next = std::move(chunks_.write());
  chunks_.write() = std::move(chunk);
  return first;
}

void TaskStore::give_batch(Task* first) noexcept {
  const sync::Lock lock(mutex_);
  first->spare.next_batch = batches_.read();
  batches_.write() = first;
}

void NodeCache::take_batch() {
  first_ = store_.take_batch();
  count_ = batch;
}

void NodeCache::give_batch() noexcept {
  Task* const first = first_;
  Task* last = first;
  for (std::size_t i = 1; i < batch; ++i) last = last->spare.next;
  first_ = std::exchange(last->spare.next, nullptr);
  count_ -= batch;  // equivalent(swap): a count of this thread alone
  store_.give_batch(first);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
