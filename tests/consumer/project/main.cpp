// SPDX-License-Identifier: MIT
//
// A stranger's program: uses what is installed, and prints the version its headers name.

#include <atomic>
#include <cstddef>
#include <cstdio>

#include <handoff/team/thread_team.hpp>
#include <handoff/version.hpp>

int main() {
  constexpr std::size_t count = 1000;
  std::atomic<std::size_t> seen{0};
  handoff::ThreadTeam team{{.width = 2}};
  const handoff::Tally tally =
      team.run(count, [&](handoff::IndexRange range) { seen += range.size(); });
  std::puts(HANDOFF_VERSION_STRING);
  return tally.done == count && seen == count ? 0 : 1;
}
