// SPDX-License-Identifier: MIT
//
// Finished blocks on their way from the threads that compute to the one that calls MPI, with a
// bound. It outlives the runs: who ends one may still be in end() when the next one begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>

#include "rank_bell.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Memory for the results of a block.
struct ResultBytes {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};

struct FinishedBlock {
  IndexRange range;
  ResultBytes results;  // null: there are none, or they are in place
};

class Outbox {
 public:
  // `bell`: of the one that calls MPI.
  explicit Outbox(RankBell& bell) noexcept : bell_(bell) {}

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
    bell_.ring();
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

  // Memory that an earlier block had costs no page faults.
  ResultBytes take_memory(std::size_t size) {
    {
      const sync::Lock lock(mutex_);
      const auto large_enough = [size](const ResultBytes& each) { return each.size >= size; };
      const auto at = std::find_if(spare_.begin(), spare_.end(), large_enough);
      if (at != spare_.end()) {
        ResultBytes spare = std::move(*at);
        spare_.erase(at);
        return spare;
      }
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }
  // Keeps what a thread may want at a time.
  void give_back(ResultBytes&& memory) {
    const sync::Lock lock(mutex_);
    spare_.push_back(std::move(memory));
    if (spare_.size() > limit_) spare_.pop_front();
  }

  // No more blocks will come.
  void end() noexcept {
    {
      const sync::Lock lock(mutex_);
      has_ended_ = true;
    }
    bell_.ring();
  }
  bool has_ended() const {
    const sync::Lock lock(mutex_);
    return has_ended_ && blocks_.empty();
  }

 private:
  mutable sync::Mutex mutex_;  // of what follows
  std::deque<FinishedBlock> blocks_;
  std::deque<ResultBytes> spare_;
  std::size_t limit_ = 1;
  bool has_ended_ = true;

  RankBell& bell_;
  sync::EventCount room_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
