// SPDX-License-Identifier: MIT
// What else went on while something was measured: CPU time that others took, time stolen by the
// host, throttling, and how fast the machine itself was.
#pragma once

#include "harness/process_table.hpp"

namespace handoff::lab {

// The machine's counters at one moment, of the CPUs that this process may run on.
struct Look {
  double time_s = 0;
  int cpus = 0;          // 0: /proc/stat cannot be read, nothing is known
  double idle_s = 0;
  double stolen_s = 0;
  double own_s = 0;      // CPU time of this process and of the children that it has waited for
  double throttled = 0;  // times, by a quota or for heat
  double interrupts_s = 0;  // in which the kernel served devices, in any program's time
  // The kernel's own threads. Nothing: they were not looked at; none: they are hidden.
  std::optional<ProcessTable> kernel = {};
};

// What the kernel's own threads are to a measurement. They write back what programs wrote, and say
// nowhere for which of them.
enum class KernelThreads : bool {
  are_others,  // like all other processes
  work_for_us  // the contenders write files, and pass much of that work to these threads
};

// `root` is put before every path that is read; another one than "" is for tests.
Look look(KernelThreads kernel = KernelThreads::are_others, const std::string& root = "");

// Multiply-adds, in GFLOP/s.
struct Speed {
  double one = 0;  // on one CPU
  double all = 0;  // on all at once
};

// Between two looks.
struct Disturbance {
  double foreign_cpus = 0;  // CPUs' worth of time that neither we took nor idled
  // That of the kernel's own threads, where they work for us; it is not in foreign_cpus then.
  // Nothing: it is, because they do not, or because they are hidden.
  std::optional<double> kernel_cpus = {};
  double stolen_cpus = 0;
  double throttled = 0;
  Speed speed;         // the slowest that was seen
  std::string reason;  // empty: not disturbed
  // That the machine itself was slow is the only reason: nobody took time. Those that take turns
  // meet such a state alike.
  bool only_slow = false;
  // That other processes took CPUs is the only reason, but for a slow machine. It was not
  // necessarily ours that they took: see kept_their_cpus().
  bool only_foreign = false;
};

// CPUs' worth of time that others, or the host, may take before it is a disturbance.
double most_cpus_for_others(int cpus);

// `usual` is how fast the machine is most of the time: it tells a slow state. Not how fast it is at
// its best: where two CPUs are halves of one core, the host may give them a core each for a moment,
// and all that follows is no disturbance.
Disturbance disturbance(const Look& before, const Look& after, const Speed& speed,
                        const Speed& usual);

}  // namespace handoff::lab
