// SPDX-License-Identifier: MIT
// The program that contenders of `ready` start: it tells its number, and waits to be killed.
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t own = getpid();
  if (write(STDOUT_FILENO, &own, sizeof own) != sizeof own) return 1;
  for (;;) pause();
}
