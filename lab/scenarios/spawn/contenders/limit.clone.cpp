// SPDX-License-Identifier: MIT
// What the kernel alone takes: clone(2) onto one stack that is there already, and a futex which the
// kernel wakes as the thread ends. The thread has no thread-local memory of its own, no guard below
// its stack, and no place in the C library's books.
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scenarios/spawn/contender.hpp"

namespace handoff::lab::spawn {
namespace {

struct alignas(64) Stack {
  std::byte bytes[32 << 10];
};

int run(void* word) {
  static_cast<Word*>(word)->store();
  return 0;
}

}  // namespace

Operation contender() {
  return [stack = std::make_shared<Stack>()](Word& word) {
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                          CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    std::atomic<pid_t> alive = 1;  // until the kernel clears it
    if (clone(run, stack.get() + 1, flags, &word, nullptr, nullptr, &alive) == -1) {
      throw std::runtime_error("no thread");
    }
    // The kernel wakes sleepers of all processes, so this is no private futex.
    for (pid_t seen; (seen = alive.load(std::memory_order_acquire)) != 0;) {
      syscall(SYS_futex, &alive, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    }
  };
}

}  // namespace handoff::lab::spawn
