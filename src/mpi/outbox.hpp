// SPDX-License-Identifier: MIT
//
// Finished blocks on their way from the threads that compute to the one that calls MPI, with a
// bound. It outlives the runs: who ends one may still be in end() when the next one begins.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct FinishedBlock {
  IndexRange range;
  std::unique_ptr<std::byte[]> results;  // null: there are none, or they are in place
};

class Outbox {
 public:
  // Nobody is inside.
  void open(std::size_t limit) {
    const sync::Lock lock(mutex_);
    limit_ = limit;
    has_ended_ = false;
  }

  // Waits for room.
  void push(FinishedBlock&& block) {
    const auto pushed = [&] {
      const sync::Lock lock(mutex_);
      if (blocks_.size() >= limit_) return false;
      blocks_.push_back(std::move(block));
      return true;
    };
    (void)room_.await(pushed, sync::no_deadline, {}, sync::Spin::never, "results to be sent");
    came_.notify_one();
  }
  bool pop(FinishedBlock& block) {
    {
      const sync::Lock lock(mutex_);
      if (blocks_.empty()) return false;
      block = std::move(blocks_.front());
      blocks_.pop_front();
    }
    room_.notify_one();
    return true;
  }

  // No more blocks will come.
  void end() noexcept {
    {
      const sync::Lock lock(mutex_);
      has_ended_ = true;
    }
    came_.notify_one();
  }
  bool has_ended() const {
    const sync::Lock lock(mutex_);
    return has_ended_ && blocks_.empty();
  }

  // Until a block comes, or the end, or the deadline.
  void rest(sync::Deadline deadline) {
    const bool had_ended = has_ended();
    const auto is_there = [&] {
      const sync::Lock lock(mutex_);
      return !blocks_.empty() || (has_ended_ && !had_ended);
    };
    (void)came_.await(is_there, deadline, {}, sync::Spin::never, "blocks of ranks");
  }

 private:
  mutable sync::Mutex mutex_;  // of what follows
  std::deque<FinishedBlock> blocks_;
  std::size_t limit_ = 1;
  bool has_ended_ = true;

  sync::EventCount came_;
  sync::EventCount room_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
