// SPDX-License-Identifier: MIT
//
// Which thread hands out the messages of a bus at the moment, if any does. Not for users.
//
// Concurrency: a Taking by the consumer; the questions by any thread.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/internal/this_thread.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class BusTaker {
 public:
  // The consumer takes while this lives, once.
  class Taking {
   public:
    explicit Taking(BusTaker& taker) : taker_(taker) {
      if (taker.is_taking()) {
        misuse("a message bus was drained inside one of its handlers, or by two threads at a time");
      }
      // order: relaxed, a reader is told by what it reads besides, or is this thread.
      taker_.thread_.store(sync::this_thread_id(), sync::order::relaxed);
    }
    ~Taking() { taker_.thread_.store(nullptr, sync::order::relaxed); }  // order: relaxed, as above
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;

   private:
    BusTaker& taker_;
  };

  // Whether this thread, or another one, takes. In a forked child no other is there.
  bool is_taking() const noexcept {
    const sync::ThreadId thread =
        thread_.load(sync::order::relaxed);  // order: relaxed, its own comes before
    return thread != nullptr && (origin_.is_here() || thread == sync::this_thread_id());
  }
  bool is_taking_here() const noexcept {
    // order: relaxed, as above
    return thread_.load(sync::order::relaxed) == sync::this_thread_id();
  }

 private:
  template <class>
  friend struct Books;

  sync::atomic<sync::ThreadId> thread_{nullptr};
  const sync::Origin origin_ = sync::Origin::here();
};

}}}  // namespace handoff::HANDOFF_ABI::detail
