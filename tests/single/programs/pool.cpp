// SPDX-License-Identifier: MIT
//
// A program that has the pool's single header and nothing else of the library.

#include "handoff_pool.hpp"

#include <cstdio>
#include <vector>

int main() {
  handoff::ThreadPool pool({.width = 2});
  handoff::Future<int> answer = pool.submit([] { return 21; }).then([](int n) { return 2 * n; });

  std::vector<int> doubled(1000);
  handoff::parallel_for(pool, 0, 1000, [&](int i) { doubled[static_cast<unsigned>(i)] = 2 * i; });

  int in_a_group = 0;
  handoff::TaskGroup group(pool);
  group.run([&] { in_a_group = pool.submit([](int n) { return n * n; }, 5).get(); });
  group.wait();

  const bool right = answer.get() == 42 && doubled[999] == 1998 && in_a_group == 25;
  const handoff::Tally tally = pool.close(handoff::Closing::finish);
  if (!right || tally.accepted != tally.done) return 1;
  std::puts("right");
}
