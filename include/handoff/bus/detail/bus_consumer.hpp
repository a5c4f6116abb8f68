// SPDX-License-Identifier: MIT
//
// The consumer of a bus: which thread it is, how it counts, and what others make of its figures.
// Not for users.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Which thread hands out the messages at the moment, if any does. A Taking by the consumer; the
// questions by any thread.
class BusTaker {
 public:
  // The consumer takes while this lives, once.
  class Taking {
   public:
    explicit Taking(BusTaker& taker) : taker_(taker) {
      if (taker.is_taking()) {
        misuse("a message bus was drained inside one of its handlers, or by two threads at a time");
      }
      taker_.thread_.set(sync::this_thread_id());
    }
    ~Taking() { taker_.thread_.set(nullptr); }
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;

   private:
    BusTaker& taker_;
  };

  // Whether this thread, or another one, takes. In a forked child no other is there.
  bool is_taking() const noexcept {
    const sync::ThreadId thread = thread_.get();
    return thread != nullptr && (origin_.is_here() || thread == sync::this_thread_id());
  }
  bool is_taking_here() const noexcept { return thread_.get() == sync::this_thread_id(); }

 private:
  template <class>
  friend struct Books;

  // order: a thread sees what it wrote itself; others are told by what they read besides.
  sync::relaxed<sync::ThreadId> thread_;
  const sync::Origin origin_ = sync::Origin::here();
};

// tally() by any thread, the rest by the consumer.
class BusFigures {
 public:
  // What its rings say, added up.
  struct Rings {
    std::uint64_t passed = 0;
    std::uint64_t claimed = 0;
    std::uint64_t dropped = 0;
  };

  // A message that nobody was handed, expired or cancelled.
  void count_unhandled(Outcome why) noexcept {
    (why == Outcome::expired ? expired_ : cancelled_).add_alone(1);
  }
  // A claim that was dropped.
  void count_skipped() noexcept { skipped_.add_alone(1); }
  [[gnu::cold]] void count_failed(std::exception_ptr failure) noexcept {
    failed_.add_alone(1);
    const sync::Lock lock(failure_mutex_);
    if (first_failure_ == nullptr) first_failure_ = std::move(failure);
  }

  // `over`: the heads are where the tails end, but for claims that are taken back. `look`: asked
  // for the rings after what is counted here.
  template <class Look>
  Tally tally(bool over, const Look& look) const noexcept {
    Tally tally;
    {
      const sync::Lock lock(failure_mutex_);
      tally.first_failure = first_failure_;
    }
    tally.failed = failed_.get();  // equivalent(swap) all: one answer, of figures of a moment
    tally.cancelled = cancelled_.get();
    tally.expired = expired_.get();
    const std::uint64_t skipped = skipped_.get();
    const Rings rings = look();
    // While calls are under way some of these are older than others.
    const std::uint64_t ended = less(rings.passed, skipped);
    tally.accepted = over ? ended : detail::max(less(rings.claimed, rings.dropped), ended);
    tally.done = less(ended, tally.failed + tally.cancelled + tally.expired);
    tally.pending = tally.accepted - ended;
    return tally;
  }

 private:
  template <class>
  friend struct Books;

  static constexpr std::uint64_t less(std::uint64_t all, std::uint64_t some) noexcept {
    return all > some ? all - some : 0;
  }

  using Figure = sync::relaxed<std::uint64_t>;  // order: the head is published behind each
  Figure failed_;
  Figure cancelled_;
  Figure expired_;
  Figure skipped_;
  mutable sync::Mutex failure_mutex_;
  std::exception_ptr first_failure_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
