// SPDX-License-Identifier: MIT
// What this machine offers and what may spoil a measurement on it: read, or really tried.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Where to look; other values than these are for tests.
struct DiagnosisSource {
  std::string root;       // put before every path that is read
  unsigned affinity = 0;  // 0: ask the kernel
};

struct Finding {
  std::string name;      // one word
  std::string text;      // for people
  nlohmann::json value;  // for tools; null where it cannot be known
  std::string advice;    // empty: all is well
};

// These read below the root.
Finding find_cpus(const DiagnosisSource& source);      // affinity and quota
Finding find_governor(const DiagnosisSource& source);
Finding find_siblings(const DiagnosisSource& source);  // hardware threads that share a core
Finding find_pages(const DiagnosisSource& source);
Finding find_load(const DiagnosisSource& source);

// These try, and read only why it failed below the root.
Finding find_io_uring(const DiagnosisSource& source);
Finding find_counters(const DiagnosisSource& source);

}  // namespace handoff::lab
