// SPDX-License-Identifier: MIT
// This library's team of threads, of which the caller is one: what the same rows cost where nobody
// can die alone.
#include <handoff/team/thread_team.hpp>

#include "scenarios/spawn/claims.hpp"

namespace handoff::lab::spawn { namespace {

class Threads {
 public:
  explicit Threads(std::size_t width) : team_(ThreadTeamOptions{.width = width}) {}

  void run(const Rows& rows) {
    static_cast<void>(
        team_.run(rows.count, [&rows](IndexRange range) { rows.do_block(range.first, range.last); },
                  {.block = kBlock}));
  }

 private:
  ThreadTeam team_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_claims<spawn::Threads>(parameters);
}
