// SPDX-License-Identifier: MIT
//
// What a handle asks of the timers.
#include <handoff/pool/timer_handle.hpp>
#include <utility>

#include "timers.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

bool TimerHandle::cancel() noexcept { return task_ != nullptr && task_->timers().cancel(*task_); }

bool TimerHandle::cancel_and_wait() noexcept {
  return task_ != nullptr && task_->timers().cancel_and_wait(*task_);
}

void TimerHandle::reset() noexcept {
  if (task_ == nullptr) return;
  detail::Timers& timers = task_->timers();
  timers.leave(*std::exchange(task_, nullptr));
  timers.release();
}

}}  // namespace handoff::HANDOFF_ABI
