// SPDX-License-Identifier: MIT
// Boost.Process: a child that is a program, made by a fork.
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/posix.hpp>

#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {
namespace {

class Programs {
 public:
  pid_t start() {
    child_ = boost::process::child(boost::process::exe = program_,
                                   boost::process::posix::fd.bind(STDOUT_FILENO, told_.writes()));
    return told_.by(child_.id());
  }
  // Its terminate() leaves children behind that nobody has waited for.
  void end() {
    kill(child_.id(), SIGKILL);
    child_.wait();
  }

 private:
  const std::string program_ = worker_program();
  Told told_;
  boost::process::child child_;
};

}  // namespace

Prepared contender(const Parameters& parameters) { return measure_ready<Programs>(parameters); }

}  // namespace handoff::lab::spawn
