// SPDX-License-Identifier: MIT
//
// What the tests of shared memory have in common: children, names, failing system calls.
#pragma once

#include <dirent.h>
#include <sys/prctl.h>

#include "support/filtered_calls.hpp"
#include "support/test.hpp"

namespace handoff::test {

// A name of this test's own, gone with the object.
class SharedName {
 public:
  SharedName() {
    static int number = 0;
    name_ = "/handoff_test_" + std::to_string(::getpid()) + "_" + std::to_string(++number);
  }
  ~SharedName() { ::shm_unlink(name_.c_str()); }
  SharedName(const SharedName&) = delete;
  SharedName& operator=(const SharedName&) = delete;

  const std::string& text() const { return name_; }
  std::string path() const { return "/dev/shm" + name_; }
  bool is_there() const { return ::access(path().c_str(), F_OK) == 0; }

 private:
  std::string name_;
};

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

// How many descriptors this process has; by asking for each, so that a filter of system calls does
// not matter.
inline int open_descriptors() {
  int count = 0;
  for (int each = 0; each < 1024; ++each) count += ::fcntl(each, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

// The error of a call on shared memory that fails, "shared memory NAME: STEP: ..."; 0 and "" if it
// does not.
struct Refused {
  int error = 0;
  std::string step;
  std::string text;
};
template <class Call>
Refused refused(const Call& call) {
  try {
    (void)call();
  } catch (const std::system_error& error) {
    const std::string text = error.what();
    const std::size_t step = text.find(": ") + 2;
    return {.error = error.code().value(),
            .step = text.substr(step, text.find(": ", step) - step),
            .text = text};
  }
  return {};
}

}  // namespace handoff::test
