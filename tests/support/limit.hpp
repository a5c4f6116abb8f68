// SPDX-License-Identifier: MIT
//
// A limit of this process (RLIMIT_...), as long as it lives.
#pragma once

#include <sys/resource.h>

namespace handoff::test {

class Limit {
 public:
  Limit(decltype(RLIMIT_AS) which, rlim_t most) : which_(which) {
    ::getrlimit(which_, &before_);
    const rlimit now{.rlim_cur = most, .rlim_max = before_.rlim_max};
    ::setrlimit(which_, &now);
  }
  ~Limit() { ::setrlimit(which_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  const decltype(RLIMIT_AS) which_;
  rlimit before_{};
};

}  // namespace handoff::test
