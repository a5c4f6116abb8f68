// SPDX-License-Identifier: MIT
// For tests: starts no worker, and gives itself out for one.
#include "scenarios/spawn/workers.hpp"

namespace handoff::lab::spawn { namespace {

struct Pretends {
  static pid_t start() { return getpid(); }
  static void end() {}
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_ready<spawn::Pretends>(parameters);
}
