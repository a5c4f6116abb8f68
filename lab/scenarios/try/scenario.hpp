// SPDX-License-Identifier: MIT
// `try`: the user's own loop, in a shared object, under every way. It is not among the scenarios of
// the registry: without a kernel there is nothing to measure.
#pragma once

#include "harness/scenario.hpp"
#include "scenarios/try/answer.hpp"

namespace handoff::lab::trial {

inline constexpr const char* kSerial = "limit.serial";

class KernelProblem;

class Trial : public Scenario {
 public:
  // No way may be silent for longer than `limit`.
  Trial(std::filesystem::path kernel, std::chrono::nanoseconds limit);

  // Those of the table, also for a contender that is started before anything is measured.
  [[nodiscard]] std::vector<Variable> variables() const;

  // What the serial way answered, from now on what all must answer; a pass takes so long.
  void set_reference(std::uint64_t digest, std::chrono::nanoseconds pass);

 private:
  Trial(std::filesystem::path kernel, std::shared_ptr<KernelProblem> problem);

  std::filesystem::path kernel_;
  std::shared_ptr<KernelProblem> problem_;
};

}  // namespace handoff::lab::trial
