// SPDX-License-Identifier: MIT
// The CPUs that this process may use, two of them that are far apart, and threads that keep to one.
#pragma once

#include <fstream>

#include <sched.h>

#include "harness/standard.hpp"

namespace handoff::lab {

// None where there are more of them than a mask of usual size can tell.
inline std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

// Keeps this thread, and those that it starts from now on, to one CPU. It fails only if the CPU was
// just taken from us.
inline bool stay_on(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  return sched_setaffinity(0, sizeof only, &only) == 0;
}

// What the kernel says about a CPU's place: package and core; empty where it does not say.
inline std::string core_of(int cpu) {
  const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  std::string package;
  std::string core;
  std::ifstream(topology + "physical_package_id") >> package;
  std::ifstream(topology + "core_id") >> core;
  return package.empty() || core.empty() ? "" : package + ' ' + core;
}

// The first of these CPUs and the first one of another core; where all are of one core, any other
// one. Fewer than two if there are.
inline std::vector<int> two_of(const std::vector<int>& cpus) {
  if (cpus.size() < 2) return cpus;
  const std::string core = core_of(cpus[0]);
  for (const int cpu : cpus) {
    if (core_of(cpu) != core) return {cpus[0], cpu};
  }
  return {cpus[0], cpus[1]};
}

}  // namespace handoff::lab
