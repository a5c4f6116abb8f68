// SPDX-License-Identifier: MIT
//
// A test of this program once more, in a fresh process: for what is asked once in a life.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

// Runs the tests of `filter` with `variable` in their environment. What the process returns: 0 if
// all is well; -1 if it did not end by itself.
inline int in_fresh_process(const char* filter, const char* variable, const char* value) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::setenv(variable, value, 1);
    const std::string only = std::string("--gtest_filter=") + filter;
    ::execl("/proc/self/exe", "test", "--gtest_brief=1", only.c_str(), nullptr);
    ::_exit(254);
  }
  int status = 0;
  if (id < 0 || ::waitpid(id, &status, 0) != id || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace handoff::test
