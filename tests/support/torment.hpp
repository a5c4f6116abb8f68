// SPDX-License-Identifier: MIT
//
// What a machine does to threads at bad moments, done on purpose and often.
//
//   Torment torment({.stalls_per_second = 200});      // from here to the end of the scope
//
// A stall is a signal to a random thread whose handler sleeps for 10 us to 20 ms: the thread stops
// at an arbitrary instruction while all others go on. It also interrupts system calls. A flip
// moves all threads onto one CPU, or lets them spread again.
// The signal is SIGSYS, one of the few that the library's own threads leave unblocked.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace handoff::test {

struct TormentOptions {
  unsigned stalls_per_second = 500;
  unsigned flips_per_second = 100;
  bool restart = true;  // SA_RESTART; without it interrupted calls return EINTR
};

class Torment {
 public:
  explicit Torment(TormentOptions options = {});
  ~Torment();
  Torment(const Torment&) = delete;
  Torment& operator=(const Torment&) = delete;

  // Signals that were delivered so far.
  static std::uint64_t stalls() noexcept;

 private:
  void work(TormentOptions options);

  std::atomic<bool> quit_{false};
  std::thread thread_;
};

}  // namespace handoff::test
