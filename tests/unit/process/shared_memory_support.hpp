// SPDX-License-Identifier: MIT
//
// What the tests of shared memory have in common: children, names, calls that are refused.
#pragma once

#include <sys/mount.h>

#include "support/child.hpp"
#include "support/files.hpp"
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

// This process has a /dev/shm of its own from here on, of this size. False: it may not.
inline bool take_own_shm(const char* size) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/dev/shm", "tmpfs", 0, size) == 0;
}

inline SharedMemory published(const SharedMemoryOptions& options) {
  SharedMemory memory = SharedMemory::create(options);
  memory.publish();
  return memory;
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
