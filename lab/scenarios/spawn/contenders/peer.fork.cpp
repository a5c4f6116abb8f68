// SPDX-License-Identifier: MIT
// fork: a child that goes on with the parent's code and a copy of its tables.
#include <csignal>
#include <stdexcept>

#include <sys/prctl.h>
#include <unistd.h>

#include "harness/protocol.hpp"
#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/workers.hpp"

namespace handoff::lab::spawn { namespace {

class Forks {
 public:
  pid_t start() {
    child_ = fork();
    if (child_ == 0) work();
    if (child_ < 0) throw std::runtime_error("no child");
    return told_.by(child_);
  }
  void end() { end_child(child_); }

 private:
  [[noreturn]] void work() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(protocol::command_fd);  // the coordinator must see when the contender closes it
    const pid_t own = getpid();
    if (write(told_.writes(), &own, sizeof own) != sizeof own) _exit(1);
    for (;;) pause();
  }

  Told told_;
  pid_t child_ = 0;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_ready<spawn::Forks>(parameters);
}
