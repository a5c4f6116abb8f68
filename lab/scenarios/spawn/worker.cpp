// SPDX-License-Identifier: MIT
// The program that contenders of `ready` start: it tells its number, and waits to be killed. With
// the number of a job it answers, and ends.
#include <csignal>
#include <cstdlib>

#include <sys/prctl.h>
#include <unistd.h>

#include "scenarios/spawn/work.hpp"

int main(int argc, char** argv) {
  if (argc == 2) {
    const auto answer = handoff::lab::spawn::do_job(std::strtoull(argv[1], nullptr, 10));
    return write(STDOUT_FILENO, &answer, sizeof answer) == sizeof answer ? 0 : 1;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t own = getpid();
  if (write(STDOUT_FILENO, &own, sizeof own) != sizeof own) return 1;
  for (;;) pause();
}
