// SPDX-License-Identifier: MIT
//
// Worker processes that may die, for scenarios, and what wakes their master.
//
// The kernel's part is played by a thread a process, which waits for it and then says so: what a
// pidfd in a poll() does. The eventfd is a word that both sides wake the master by.
#pragma once

#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/park.hpp>

#include "explore/scenario.hpp"

namespace handoff::test {

class MortalWorkers {
 public:
  static constexpr std::uint32_t width = 2;

  // The worker of `slot` begins its life; the kernel tells when it dies, or how ever it ends.
  template <class Life>
  void start(std::uint32_t slot, bool tells_of_any_end, const Life& life) {
    watchers_.push_back(std::make_unique<explore::Thread>([this, slot, tells_of_any_end, life] {
      bool died = false;
      {
        explore::Process process(life);
        died = process.wait();
      }
      if (!died && !tells_of_any_end) return;
      ended_[slot].store(1, sync::order::release);
      wake_master();
    }));
  }
  // By the master: buries each that has ended, once.
  template <class Bury>
  void bury(const Bury& bury) {
    for (std::uint32_t slot = 0; slot < width; ++slot) {
      if (ended_[slot].load(sync::order::acquire) == 0) continue;
      ended_[slot].store(0, sync::order::relaxed);
      bury(slot);
    }
  }
  void join() { watchers_.clear(); }

  void wake_master() {
    event_.fetch_add(1, sync::order::release);
    (void)sync::unpark(event_, 1, sync::ParkScope::shared);
  }
  // By the master: looks, and sleeps until it is woken, until `look()` says that it is over.
  template <class Look>
  void lead(const Look& look) {
    for (;;) {
      const std::uint32_t heard = event_.load(sync::order::acquire);
      if (look()) return;
      (void)sync::park(event_, heard, sync::no_deadline, sync::ParkScope::shared);
    }
  }

 private:
  std::array<sync::atomic<std::uint32_t>, width> ended_{sync::atomic<std::uint32_t>(0),
                                                        sync::atomic<std::uint32_t>(0)};
  sync::atomic<std::uint32_t> event_{0};
  std::vector<std::unique_ptr<explore::Thread>> watchers_;
};

}  // namespace handoff::test
