// SPDX-License-Identifier: MIT
// What measurements of several threads share: how far apart they write, their clock, polling, and a
// line at which they begin together.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::peers {

// How far apart lies what one thread writes and what another one reads, where a measurement has
// both: the queue that is measured decides what its own threads share.
inline constexpr std::size_t kApart = 128;  // two lines, which some processors fetch together

// The clock of latencies: two threads that read it see the same time.
inline std::uint64_t clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

// Polling, for a thread that must not sleep, or not yet: between an attempt in vain, the `spins`th,
// and the next one. It yields from time to time, since the thread that it waits for may need this
// CPU.
inline void wait_a_little(int spins) {
  constexpr int spins_before_a_yield = 1000;
  if (spins < spins_before_a_yield) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

// Until attempt() says true. Always inlined. Else the compiler inlines it for a way that has a
// program of its own, and often not where several ways share one; an item that is passed by its
// address is then stored first, and copied from there.
template <class Attempt>
[[gnu::always_inline]] inline void retry(Attempt&& attempt) {
  for (int spins = 0; !attempt(); ++spins) wait_a_little(spins);
}

// The same where an answer is awaited, and not a stream of items: it looks again at once for a
// while, since a pause takes as long as what comes from another core. (A consumer that does so
// takes the line from its producer at each item.)
template <class Attempt>
void retry_at_once(Attempt&& attempt) {
  constexpr int looks = 64;
  for (int i = 0; i < looks; ++i) {
    if (attempt()) return;
  }
  retry(attempt);
}

// retry() for so long at most; false if it never said so.
template <class Attempt>
bool retry_for(std::chrono::nanoseconds time, Attempt&& attempt) {
  if (attempt()) return true;
  constexpr int looks_at_the_clock = 16;  // one in so many
  const auto end = std::chrono::steady_clock::now() + time;
  for (int spins = 0; !attempt(); ++spins) {
    if (spins % looks_at_the_clock == 0 && std::chrono::steady_clock::now() >= end) return false;
    wait_a_little(spins);
  }
  return true;
}

// Threads that begin together: one gives the word once all others are there, so that starting them
// is in no figure.
class StartLine {
 public:
  // For another operation. No thread may wait here.
  void draw() {
    there_.store(0, std::memory_order_relaxed);
    began_.store(false, std::memory_order_relaxed);
  }

  // A thread that is to begin.
  void await_word() {
    there_.fetch_add(1, std::memory_order_release);
    retry([this] { return began_.load(std::memory_order_acquire); });
  }

  // The one that gives the word, to so many.
  void await(std::size_t threads) const {
    retry([&] { return there_.load(std::memory_order_acquire) == threads; });
  }
  void give_word() { began_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> began_{false};
  alignas(kApart) std::atomic<std::size_t> there_{0};
};

}  // namespace handoff::lab::peers
