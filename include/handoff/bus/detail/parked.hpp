// SPDX-License-Identifier: MIT
//
// The threads that wait for a change that others make often: a change costs a load as long as
// nobody sleeps. Not for users.
//
//   changer:  change;           light fence;   somebody sleeps ?   then notify
//   waiter:   count oneself;    heavy fence;   EventCount: look, and sleep
//
// If the change comes before the waiter's heavy fence, the look sees it; else the changer reads the
// count behind its light fence, and the EventCount does the rest (docs/design/broadcast.md).
// Concurrency: thread-safe. Blocks: wait(). Allocates, throws: wait() as Until does, and what the
// condition throws.
#pragma once

#include <chrono>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/pause.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Parked {
 public:
  // Called by the thread that changed something, after the change.
  void tell() noexcept {
    if (sleepers_.anybody()) [[unlikely]]
      events_.notify_all();
  }

  // Until `condition()` is true (ok), a stop or the deadline; asked last of all, so that ok says
  // exactly that it was true. `spin_for` as in the options of the buses, `cause` as in EventCount.
  template <class Condition>
  Status wait(const Condition& condition, std::chrono::nanoseconds spin_for, const Until& until,
              const char* cause = "idle") {
    if (spin_for == std::chrono::nanoseconds::max()) return spin(condition, until, cause);
    if (look_until(condition, time_to_look(spin_for), until, cause)) return Status::ok;
    const sync::StopToken stop = until.stop_token();
    const RareSleepers::Asleep asleep(sleepers_);
    return status_of(events_.await(condition, until.deadline(), stop, sync::Spin::never, cause));
  }

 private:
  template <class>
  friend struct Books;

  // Looks after each pause: a thread that never sleeps wants to know at once. Yields now and then,
  // since the one it waits for may need this CPU.
  template <class Condition>
  static Status spin(const Condition& condition, const Until& until, const char* cause) {
    if (condition()) return Status::ok;
    const probe::Slice spins(probe::Kind::spin, cause);
    // equivalent(negate): only speed: how often it yields
    const unsigned looks_a_yield = sync::spin_policy() == sync::Spin::allowed ? 1024 : 1;
    for (unsigned looks = 1;; ++looks) {  // equivalent(bound): only speed: how often it yields
      if (looks % 64 == 0) {  // equivalent(negate): only speed: how often it looks at the clock
        const bool stopped = until.stop_requested();
        if (stopped || (until.has_deadline() && sync::clock::now() >= until.deadline())) {
          if (condition()) return Status::ok;
          return stopped ? Status::stopped : Status::timed_out;
        }
      }
      if (looks % looks_a_yield == 0) {  // equivalent(negate): only speed: how often it yields
        sync::yield();
      } else {
        sync::pause();
      }
      if (condition()) return Status::ok;
    }
  }

  RareSleepers sleepers_;
  sync::EventCount events_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
