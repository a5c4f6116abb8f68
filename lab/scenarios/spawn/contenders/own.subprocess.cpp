// SPDX-License-Identifier: MIT
// This library's child that is a program: it ends with its parent, has no descriptors but those it
// is given, and is known by its pidfd.
#include <optional>
#include <string>

#include <handoff/process/subprocess.hpp>

#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/workers.hpp"

namespace handoff::lab::spawn { namespace {

class Programs {
 public:
  pid_t start() {
    child_.emplace(
        Subprocess::start({program_}, {.output = SubprocessOutput::descriptor(told_.writes())}));
    return told_.by(child_->id());
  }
  void end() { child_.reset(); }

 private:
  const std::string program_ = worker_program();
  Told told_;
  std::optional<Subprocess> child_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_ready<spawn::Programs>(parameters);
}
