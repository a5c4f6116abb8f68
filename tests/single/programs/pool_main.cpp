// SPDX-License-Identifier: MIT
//
// A program with two units that has the pool's single header and nothing else of the library.

#include "handoff_pool.hpp"

#include <cstdio>
#include <utility>
#include <vector>

int sum_of_squares(handoff::ThreadPool& pool, int count);  // the other unit's

int main() {
  handoff::ThreadPool pool({.width = 2});
  handoff::Future<int> answer = pool.submit([] { return 21; }).then([](int n) { return 2 * n; });

  std::vector<int> doubled(1000);
  handoff::parallel_for(pool, 0, 1000, [&](int i) { doubled[static_cast<unsigned>(i)] = 2 * i; });

  int in_a_group = 0;
  handoff::TaskGroup group(pool);
  group.run([&] { in_a_group = sum_of_squares(pool, 10); });
  group.wait();

  const bool right = answer.get() == 42 && doubled[999] == 1998 && in_a_group == 285;
  const handoff::Tally tally = pool.close(handoff::Closing::finish);
  if (!right || tally.accepted != tally.done) return 1;
  std::puts("right");
}
