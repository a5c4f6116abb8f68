// SPDX-License-Identifier: MIT
//
// A stranger's program: loops over a vector, on a pool and on a team.

#include <cstddef>
#include <cstdio>
#include <vector>

#include <handoff/pool/parallel_for.hpp>
#include <handoff/team/thread_team.hpp>

int main() {
  std::vector<double> values(100'000, 1.5);
  handoff::ThreadPool pool;
  handoff::ThreadTeam team;

  handoff::parallel_for(pool, 0, values.size(), [&](std::size_t i) { values[i] *= 2; });
  handoff::parallel_for(team, values, [](double& x) { x += 1; });
  handoff::parallel_for(pool, values.begin(), values.end(), [](auto& x) { x /= 4; });
  const handoff::Tally tally = handoff::parallel_for(team, 0, values.size(),
                                                     [&](handoff::IndexRange range) {
                                                       for (auto i : range) values[i] += 1;
                                                     },
                                                     {.block = 64});

  const double sum = handoff::parallel_reduce(
      pool, 0, values.size(), 0.0, [&](std::size_t i) { return values[i]; },
      [](double a, double b) { return a + b; });
  if (sum != 200'000 || tally.done != values.size()) return 1;
  std::puts("right");
}
