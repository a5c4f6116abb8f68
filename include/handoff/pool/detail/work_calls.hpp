// SPDX-License-Identifier: MIT
//
// Calls a worker of a pool to new work: wakes one that sleeps, or has one started that is absent.
// Not for users.
//
// Nobody is called while a worker searches: it will find the work, or see that there is more.
//
// Concurrency: anybody. Blocks: for a few instructions of others. Allocates: starting a thread.
// Throws: never; if there is no thread to be had the others go on without.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <handoff/config.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/internal/fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class WorkCalls {
 public:
  WorkCalls(const WorkCalls&) = delete;
  WorkCalls& operator=(const WorkCalls&) = delete;

  // A task has come by a seq_cst operation.
  void call_for_queued() noexcept {
    if (sleepers_.wanted()) [[unlikely]]
      wake_one();
  }
  // Tasks have come into the deque of a worker, this thread, which may search itself.
  void call_for_pushed() noexcept {
    // order: light half; partner is the heavy half before a look for work in WorkSearch and
    // Sleepers: either that look finds the tasks, or the line below finds the worker asleep.
    sync::asymmetric_fence_light();
    call_for_queued();
  }

  Sleepers& sleepers() noexcept { return sleepers_; }

  void wake_one() noexcept {
    probe::moment(probe::Kind::wake);
    if (Sleepers::Place* const absent = sleepers_.wake_one()) [[unlikely]]
      start_absent(*absent);
  }

 protected:
  WorkCalls() noexcept = default;
  ~WorkCalls() = default;

 private:
  // Starts a worker that counts as searching from here on.
  virtual void start_absent(Sleepers::Place& place) noexcept = 0;

  Sleepers sleepers_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
