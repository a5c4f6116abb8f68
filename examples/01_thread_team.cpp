// SPDX-License-Identifier: MIT
//
// A loop over an array, shared out to all CPUs. What stands between the marks is the example in
// README.md; a test holds the two equal.

// [readme]
#include <vector>

#include <handoff/team/thread_team.hpp>

int main() {
  const std::vector<float> heat(1'000'000, 20.0F);
  std::vector<float> next(heat.size(), 20.0F);

  handoff::ThreadTeam team;  // a member for each CPU that this process may use
  const handoff::Tally tally = team.run(heat.size() - 2, [&](handoff::IndexRange range) {
    for (auto i : range) next[i + 1] = (heat[i] + 2 * heat[i + 1] + heat[i + 2]) / 4;
  });

  return tally.done == heat.size() - 2 && next == heat ? 0 : 1;  // uniform heat stays as it is
}
// [readme]
