// SPDX-License-Identifier: MIT
//
// The queues of the mode `active`, a pair for each worker, and which of them a submitter takes.
//
// Submitters stay with one worker until the next one has less to do. This is about speed only: idle
// workers rob the others.
//
// Thread-safe; see PingPongTasks for the pairs. Order: none.
// Blocks, allocates: as TaskQueue. Closed: a submitter that was refused once is refused for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>

#include "ping_pong_tasks.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class ActiveQueues {
 public:
  explicit ActiveQueues(std::size_t workers) : pairs_(workers), chosen_(0), closed_(false) {}

  std::size_t size() const noexcept { return pairs_.size(); }
  PingPongTasks& of(std::size_t worker) noexcept { return pairs_[worker]; }

  Task* reserve() {
    // order: relaxed. A thread that was refused by one of the queues has set it, so sees it.
    if (closed_.load(sync::order::relaxed)) return nullptr;
    Task* const task = choose().reserve();
    // order: relaxed, as above.
    if (task == nullptr) closed_.store(true, sync::order::relaxed);
    return task;
  }

  void close() noexcept {
    for (PingPongTasks& pair : pairs_) pair.close();
  }

  std::uint64_t accepted() const noexcept {
    std::uint64_t sum = 0;
    for (const PingPongTasks& pair : pairs_) sum += pair.accepted();
    return sum;
  }

  bool has_tickets() const noexcept {
    for (const PingPongTasks& pair : pairs_) {
      if (pair.has_tickets()) return true;
    }
    return false;
  }

 private:
  PingPongTasks& choose() noexcept {
    std::size_t index = chosen_.load(sync::order::relaxed);  // order: relaxed, a hint
    const std::size_t other = index + 1 < pairs_.size() ? index + 1 : 0;
    if (pairs_[other].load() < pairs_[index].load()) {
      index = other;
      chosen_.store(index, sync::order::relaxed);  // order: relaxed, a hint
    }
    return pairs_[index];
  }

  std::vector<PingPongTasks> pairs_;  // by worker
  alignas(sync::destructive_span) sync::atomic<std::size_t> chosen_;
  sync::atomic<bool> closed_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
