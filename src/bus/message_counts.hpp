// SPDX-License-Identifier: MIT
//
// How many messages were accepted, what became of them, and whether more are accepted.
//
// Invariant
//   MW-1  Every accepted message is counted once, after it was destroyed and its place given back,
//         and before a thread that waits for it hears.
//
// Concurrency: anybody. Blocks, allocates, throws: never. Proof: docs/design/message_workers.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/relaxed.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class MessageCounts {
 public:
  MessageCounts() noexcept : accepted_(0), failed_(0), cancelled_(0), expired_(0), finished_(0) {}

  // One more; false once closed. An exchange and not an addition: the number never holds a message
  // that was refused, so a thread that finds it equal to the finished ones is right.
  bool accept() noexcept {
    // order: acquire, as in closed(): it may be all that a refused caller reads.
    std::uint64_t before = accepted_.load(sync::order::acquire);
    while (!is_closed(before)) {
      // order: relaxed, the hand-over publishes the message; on failure acquire, as above.
      if (accepted_.compare_exchange_weak(before, before + kOne, sync::order::relaxed,
                                          sync::order::acquire)) {
        return true;
      }
    }
    return false;
  }

  // No accept() after this succeeds. Any number of times.
  void close() noexcept {
    // order: release pairs with the acquires in accept() and closed(): what the closer did before.
    accepted_.fetch_or(kClosed, sync::order::release);
  }
  bool closed() const noexcept {
    return is_closed(accepted_.load(sync::order::acquire));  // order: acquire, see close()
  }

  void count(Outcome outcome) noexcept {
    // order: release pairs with the acquires in tally(), which counts the message as accepted then.
    if (outcome != Outcome::done) counter(outcome).fetch_add(1, sync::order::release);
    // order: release pairs with the acquire in finished(): a thread that sees the count sees what
    // was done.
    finished_.fetch_add(1, sync::order::release);
  }

  // True if there was a moment during this call at which nothing was unfinished. First what is
  // finished, then what was accepted: both only grow, and a message is accepted before it is
  // finished.
  bool is_idle() const noexcept { return finished() == accepted(); }

  void refuse() noexcept { refused_.add(1); }
  std::uint64_t refused() const noexcept { return refused_.get(); }

  // But for what was thrown.
  Tally tally() const noexcept {
    Tally tally;
    const std::uint64_t finished_now = finished();
    // equivalent(swap): figures of different kinds, between the finished and the accepted
    tally.failed = failed_.load(sync::order::acquire);  // order: acquire, see count()
    // equivalent(swap): figures of different kinds, between the finished and the accepted
    tally.cancelled = cancelled_.load(sync::order::acquire);  // order: acquire, see count()
    tally.expired = expired_.load(sync::order::acquire);  // order: acquire, see count()
    const std::uint64_t others = tally.failed + tally.cancelled + tally.expired;
    // Those that ended between the two looks are among the others and not among the finished.
    // equivalent(swap): two members of one answer; all that is counted was read before
    tally.done = finished_now > others ? finished_now - others : 0;
    tally.accepted = accepted();
    tally.pending = tally.accepted - tally.done - others;
    return tally;
  }

 private:
  using Counter = sync::atomic<std::uint64_t>;

  // The lowest bit of accepted_; a message counts for two. 63 bits are left: 292 years at a message
  // a nanosecond.
  static constexpr std::uint64_t kClosed = 1;
  static constexpr std::uint64_t kOne = 2;
  static bool is_closed(std::uint64_t accepted) noexcept { return (accepted & kClosed) != 0; }

  std::uint64_t accepted() const noexcept {
    return accepted_.load(sync::order::relaxed) / kOne;  // order: relaxed, after finished()
  }
  std::uint64_t finished() const noexcept {
    return finished_.load(sync::order::acquire);  // order: acquire pairs with count()
  }
  Counter& counter(Outcome outcome) noexcept {
    if (outcome == Outcome::failed) return failed_;
    return outcome == Outcome::expired ? expired_ : cancelled_;
  }

  alignas(sync::destructive_span) Counter accepted_;  // by publishers
  sync::relaxed<std::uint64_t> refused_;
  Counter failed_;
  Counter cancelled_;
  Counter expired_;
  alignas(sync::destructive_span) Counter finished_;  // by runners
};

}}}  // namespace handoff::HANDOFF_ABI::detail
