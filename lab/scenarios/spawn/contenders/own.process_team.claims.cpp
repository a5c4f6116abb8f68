// SPDX-License-Identifier: MIT
// This library's team of processes, of which any may die: a claim says whose it is.
#include <handoff/process/process_team.hpp>

#include "scenarios/spawn/claims.hpp"

namespace handoff::lab::spawn { namespace {

void do_rows(IndexRange range, const Rows& rows) { rows.do_block(range.first, range.last); }

class Team {
 public:
  explicit Team(std::size_t width) : team_({.width = width, .on_fewer = OnFewerWorkers::refuse}) {}

  void run(const Rows& rows) {
    static_cast<void>(team_.run<do_rows>(rows.count, rows, {.block = kBlock}));
  }

 private:
  ProcessTeam team_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_claims<spawn::Team>(parameters);
}
