// SPDX-License-Identifier: MIT
//
// A function called as somebody else, where this process is root's. Users and groups belong to a
// thread, as the kernel sees it: it runs on one of its own, and so do the threads that it starts.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

struct Somebody {
  uid_t user = 0;
  std::vector<gid_t> groups = {0};  // the first one is what new files get

  bool is_in(gid_t group) const {
    for (const gid_t one : groups) {
      if (one == group) return true;
    }
    return false;
  }
};

inline bool is_root() { return ::geteuid() == 0; }

// Somebody else than this process needs that it is root's.
template <class Function>
void as(const Somebody& who, Function&& function) {
  std::jthread thread([&] {
    if (who.user != ::geteuid()) {
      const gid_t group = who.groups.front();
      ASSERT_EQ(::syscall(SYS_setgroups, who.groups.size(), who.groups.data()), 0);
      ASSERT_EQ(::syscall(SYS_setresgid, group, group, group), 0);
      ASSERT_EQ(::syscall(SYS_setresuid, who.user, who.user, who.user), 0);
    }
    std::forward<Function>(function)();
  });
}

}  // namespace handoff::test
