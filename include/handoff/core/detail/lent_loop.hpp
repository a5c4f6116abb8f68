// SPDX-License-Identifier: MIT
//
// A loop that its caller shares with an executor of which it knows nothing. Not for users, who have
// parallel_for.
//
// The executor may run a function late, or never: so functions hold the loop by a count, and enter
// it through a gate, which the caller closes when no block is left. A member that comes later finds
// it closed and touches nothing of the caller's. The caller waits only for the members inside, each
// of which runs a block; so the loop ends on any executor.
// Concurrency: run() by the caller, the rest by the functions. Allocates: itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/gate.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class E, class Block>
class LentLoop {
 public:
  // The caller's part, until all blocks are done. A block that throws ends the loop; blocks that
  // nobody has claimed by then are left out. Throws std::bad_alloc.
  static Tally run(E& executor, std::size_t count, std::size_t members, const Block& block,
                   const RunOptions& options) {
    const Member caller(*new LentLoop(executor, count, members, block, options), 0);
    return caller.lead();
  }

 private:
  // Keeps the loop alive. What the executor is given: as movable as its functions have to be.
  class Member {
   public:
    Member(LentLoop& loop, std::size_t index) noexcept : loop_(&loop), index_(index) {
      loop.refs_.fetch_add(1, sync::order::relaxed);  // order: relaxed, by a holder
    }
    Member(Member&& other) noexcept
        : loop_(std::exchange(other.loop_, nullptr)), index_(other.index_) {}
    Member& operator=(Member&& other) noexcept {
      std::swap(loop_, other.loop_);
      std::swap(index_, other.index_);
      return *this;
    }
    ~Member() {
      if (loop_ != nullptr) loop_->release();
    }

    Tally lead() const noexcept {
      loop_->gate_.open();
      loop_->work(index_);
      loop_->gate_.close();
      (void)loop_->empty_.await([this]() noexcept { return loop_->gate_.is_empty(); });
      return loop_->run_.settle();
    }
    void operator()() noexcept {
      std::uint32_t never_before = 0;
      if (!loop_->gate_.enter(never_before)) return;
      loop_->work(index_);
      if (loop_->gate_.leave()) loop_->empty_.notify_one();
    }

   private:
    LentLoop* loop_;
    std::size_t index_;
  };

  LentLoop(E& executor, std::size_t count, std::size_t members, const Block& block,
           const RunOptions& options) noexcept
      : refs_(0), executor_(executor), block_(block), until_(options.until) {
    run_.open(count, members, options.block, AtFailure::rest_left_out);
  }

  // Inside: the caller, and with it the executor, is there.
  void work(std::size_t member) noexcept {
    run_.work_and_call(member, block_, until_, [this, member] {
      static_cast<void>(executor_.try_post(Member(*this, member + 1)));
    });
  }

  void release() noexcept {
    // order: acq_rel, each release pairs with the acquire of the last one, which ends the loop.
    if (refs_.fetch_sub(1, sync::order::acq_rel) == 1) delete this;
  }

  sync::atomic<std::size_t> refs_;
  E& executor_;  // the next three are gone when the caller is
  const Block& block_;
  const Until& until_;
  Gate gate_;
  sync::EventCount empty_;  // the caller, for the last member inside
  alignas(sync::destructive_span) RangeRun run_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
