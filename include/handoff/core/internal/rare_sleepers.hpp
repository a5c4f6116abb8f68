// SPDX-License-Identifier: MIT
//
// The count of the threads that sleep for what others do often: the thread that does it asks for no
// fence. Not for users.
//
//   if (sleepers.anybody()) events.notify_one();     // after the change; costs a load
//
//   const RareSleepers::Asleep asleep(sleepers);     // before the last look and the sleep
//   events.await(condition, deadline, stop, Spin::never);
//
// Either anybody() says true, or the look behind Asleep's constructor sees the change: the light
// half of an asymmetric fence is in anybody(), the heavy half in the constructor, which costs about
// a microsecond. So look for a while first (look_until()).
// Concurrency: any thread. Blocks, allocates, throws: never.
#pragma once

#include <chrono>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/until.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/pause.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class RareSleepers {
 public:
  // After the change that they may wait for.
  [[nodiscard]] bool anybody() const noexcept {
    sync::asymmetric_fence_light();  // partner is the heavy half in Asleep
    // order: relaxed, ordered by the fences.
    return count_.load(sync::order::relaxed) != 0;
  }

  class Asleep {
   public:
    explicit Asleep(RareSleepers& sleepers) noexcept : count_(sleepers.count_) {
      count_.fetch_add(1, sync::order::relaxed);  // order: relaxed, ordered by the fence
      sync::asymmetric_fence_heavy();  // partner is the light half in anybody()
    }
    ~Asleep() { count_.fetch_sub(1, sync::order::relaxed); }  // order: relaxed, a count alone
    Asleep(const Asleep&) = delete;
    Asleep& operator=(const Asleep&) = delete;

   private:
    sync::atomic<std::uint32_t>& count_;
  };

 private:
  template <class>
  friend struct Books;

  sync::atomic<std::uint32_t> count_{0};
};

// How long it pays to look before a sleep: about what a sleep and a wake-up cost, and not at all
// where no other thread could run meanwhile. What is not negative was asked for.
inline std::chrono::nanoseconds time_to_look(std::chrono::nanoseconds asked) noexcept {
  if (asked.count() >= 0) return asked;
  return std::chrono::microseconds(sync::spin_policy() == sync::Spin::allowed ? 20 : 0);
}

// Looks for `time` whether there() says true, or until `until` ends; whether it did. A trace shows
// the looks behind the first one by their `cause`.
template <class There>
bool look_until(There&& there, std::chrono::nanoseconds time, const Until& until,
                const char* cause) {
  if (there()) return true;
  if (time.count() <= 0) return false;
  const probe::Slice spins(probe::Kind::spin, cause);
  const sync::Deadline end = detail::min(until.deadline(), sync::deadline_after(time));
  for (unsigned looks = 2;; ++looks) {
    sync::pause();
    if (there()) return true;
    if (looks % 64 == 0 && (sync::clock::now() >= end || until.stop_requested())) return false;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
