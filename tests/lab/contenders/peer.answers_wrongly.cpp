// SPDX-License-Identifier: MIT
// For tests: each tenth job has the answer of the one before.
#include "scenarios/spawn/jobs.hpp"

namespace handoff::lab::spawn { namespace {

class Wrong {
 public:
  void begin(Number /*number*/) {}
  Answer end() {
    const Number number = next_++;
    return {number - (number % 10 == 0 ? 1 : 0), getpid() + 1};
  }

 private:
  Number next_ = 1;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_jobs<spawn::Wrong>(parameters);
}
