// SPDX-License-Identifier: MIT
// Ctrl-C and its kin, taken where the coordinator waits, so that what it holds is given back by
// destructors: contenders killed, no half-written file.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

using Clock = std::chrono::steady_clock;

// A signal asked the program to end; its exit code is 128 + signal.
struct Interrupted {
  int signal;
};

class Interrupt : Pinned {
 public:
  Interrupt();  // takes SIGINT, SIGTERM and SIGHUP from here on
  ~Interrupt();

  // True once `descriptor` can be read, false at the deadline. Throws Interrupted.
  bool wait_readable(int descriptor, Clock::time_point deadline);
  // Throws Interrupted if a signal came meanwhile.
  void check();

 private:
  int signals_;
};

// In a child between fork and exec: it takes signals as any program does.
void restore_signals();

}  // namespace handoff::lab
