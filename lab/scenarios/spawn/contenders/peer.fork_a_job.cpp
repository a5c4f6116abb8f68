// SPDX-License-Identifier: MIT
// fork: a child for each job, which goes on with the parent's code and ends behind it.
#include <unistd.h>

#include "scenarios/spawn/job_pipes.hpp"

namespace handoff::lab::spawn { namespace {

class Forks {
 public:
  void begin(Number number) {
    jobs_.begin([number](int output) {
      const pid_t child = fork();
      if (child != 0) return child;
      const Answer answer = do_job(number);
      _exit(write(output, &answer, sizeof answer) == sizeof answer ? 0 : 1);
    });
  }
  Answer end() { return jobs_.end(); }

 private:
  JobPipes jobs_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_jobs<spawn::Forks>(parameters);
}
