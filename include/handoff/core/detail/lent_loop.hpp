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
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/detail/gate.hpp>
#include <handoff/core/detail/range_run.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/event_count.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class LentLoop {
 public:
  // One of those that keep a loop alive; as movable as an executor's function has to be.
  class Ref {
   public:
    explicit Ref(LentLoop& loop) noexcept : loop_(&loop) { loop.retain(); }
    Ref(Ref&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
    Ref& operator=(Ref&& other) noexcept {
      std::swap(loop_, other.loop_);
      return *this;
    }
    ~Ref() {
      if (loop_ != nullptr) loop_->release();
    }
    LentLoop& operator*() const noexcept { return *loop_; }

   private:
    LentLoop* loop_;
  };

  // What is called for each block that begins in time; until run() returns.
  struct Job {
    BlockCall call;
    const void* work;
    const Until* until;
  };

  // `helpers`: the most functions to hand over. Throws std::bad_alloc.
  static Ref make(std::size_t count, std::size_t smallest, std::size_t helpers, const Job& job);

  // The caller's part, until all blocks are done. A block that throws ends the loop; blocks that
  // nobody has claimed by then are left out.
  template <class E>
  Tally run(E& executor) noexcept {
    gate_.open();
    call_next(executor, 1);
    work(0);
    return finish();
  }

 private:
  LentLoop(std::size_t helpers, const Job& job) noexcept
      : refs_(0), helpers_(static_cast<std::ptrdiff_t>(helpers)), job_(job) {}

  // What the executor is given.
  template <class E>
  struct Helper {
    E* executor;
    Ref loop;
    std::size_t member;
    void operator()() noexcept { (*loop).help(*executor, member); }
  };

  template <class E>
  void help(E& executor, std::size_t member) noexcept {
    std::uint32_t never_before = 0;
    if (!gate_.enter(never_before)) return;
    call_next(executor, member + 1);  // inside: the caller, and with it the executor, is there
    work(member);
    if (gate_.leave()) empty_.notify_one();
  }

  // One calls the next while blocks are left. If that one is refused the loop has helpers enough.
  template <class E>
  void call_next(E& executor, std::size_t member) noexcept {
    // order: relaxed, a number of helpers.
    if (!run_.left() || helpers_.fetch_sub(1, sync::order::relaxed) <= 0) return;
    (void)attempt(
        [&] { static_cast<void>(executor.try_post(Helper<E>{&executor, Ref(*this), member})); },
        [] {});
  }

  void work(std::size_t member) noexcept;
  Tally finish() noexcept;

  void retain() noexcept {
    refs_.fetch_add(1, sync::order::relaxed);  // order: relaxed, by a holder
  }
  void release() noexcept;

  sync::atomic<std::size_t> refs_;
  sync::atomic<std::ptrdiff_t> helpers_;  // that may still be called
  const Job job_;
  Gate gate_;
  sync::EventCount empty_;  // the caller, for the last helper inside
  alignas(sync::destructive_span) RangeRun run_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
