// SPDX-License-Identifier: MIT
//
// A stranger's program: tasks that wait for groups of their own, on fewer threads than groups.

#include <atomic>
#include <cstdio>

#include <handoff/pool/task_group.hpp>

int main() {
  handoff::ThreadPool pool(2);
  std::atomic<int> leaves{0};
  std::atomic<int> early{0};

  handoff::TaskGroup branches(pool);
  for (int branch = 0; branch < 8; ++branch) {
    branches.run([&pool, &leaves, &early] {
      std::atomic<int> own{0};
      handoff::TaskGroup twigs(pool);
      for (int twig = 0; twig < 8; ++twig) twigs.run([&own] { ++own; });
      twigs.wait();
      if (own != 8) ++early;
      leaves += own;
    });
  }
  branches.wait();

  if (leaves != 64 || early != 0) return 1;
  std::puts("right");
}
