// SPDX-License-Identifier: MIT
//
// A forked child for what a process can try only once, or ends by.
#pragma once

#include <sys/prctl.h>

#include "support/test.hpp"

namespace handoff::test {

// A child that runs `body` and returns what that does. Nothing of gtest works in it.
template <class Body>
pid_t start_child(const Body& body) {
  const pid_t id = ::fork();
  if (id != 0) return id;
  ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make a return code of it
  ::signal(SIGBUS, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(100);
  int code = 250;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a child: %s\n", error.what());
  }
  ::_exit(code);
}

// How it ended: its return code, or the signal as a negative number.
inline int end_of(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (child < 0 || ended != child) return 251;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
template <class Body>
int in_child(const Body& body) {
  return end_of(start_child(body));
}

}  // namespace handoff::test
