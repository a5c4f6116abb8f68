// SPDX-License-Identifier: MIT
//
// The threads of a ring driver that make those calls for which the ring has no operation and that
// may take long (copy_file_range, FICLONE). They are started when they are needed.
//
// Concurrency: give() and take_done() by the ring's thread. Blocks: the destructor, until what was
// given is done.
#pragma once

#if defined(HANDOFF_HAS_URING)

#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <string>
#include <vector>

#include "call_slots.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class RingThreads {
 public:
  // `bell` is rung after each call.
  RingThreads(std::string name, RingBell& bell);
  ~RingThreads();
  RingThreads(const RingThreads&) = delete;
  RingThreads& operator=(const RingThreads&) = delete;

  // Has slot.handed made. False if there is no thread and none can be had.
  bool give(RingSlot& slot) noexcept;
  // The first of those that are done, linked by `next`.
  RingSlot* take_done() noexcept;

 private:
  static constexpr std::size_t kMost = 4;

  bool start_one() noexcept;
  void work() noexcept;
  RingSlot* take() noexcept;  // null: none will come any more

  const std::string name_;
  RingBell& bell_;
  sync::Mutex mutex_;
  sync::EventCount given_;
  // Under mutex_.
  RingSlot* first_ = nullptr;  // of those that were given
  RingSlot* last_ = nullptr;
  RingSlot* done_ = nullptr;
  bool closed_ = false;
  // Only the ring's thread uses these.
  std::size_t out_ = 0;  // given and not taken back
  std::vector<sync::Thread> threads_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#endif
