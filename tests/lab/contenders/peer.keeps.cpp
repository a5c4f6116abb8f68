// SPDX-License-Identifier: MIT
// For tests: starts one worker, and says that it is a new one each time.
#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/workers.hpp"

namespace handoff::lab::spawn { namespace {

class Keeps {
 public:
  Keeps() : child_(fork()) {
    while (child_ == 0) pause();
  }
  ~Keeps() { end_child(child_); }
  Keeps(const Keeps&) = delete;
  Keeps& operator=(const Keeps&) = delete;

  [[nodiscard]] pid_t start() const { return child_; }
  void end() {}

 private:
  pid_t child_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_ready<spawn::Keeps>(parameters);
}
