// SPDX-License-Identifier: MIT
#include "late_kernel.hpp"

#include <handoff/core/index_range.hpp>
#include <system_error>

namespace {

struct LateRows {
  std::uint64_t* rows;
};

void compute_late(handoff::IndexRange range, const LateRows& late) {
  for (const std::size_t i : range) late.rows[i] = 7 * i;
}

}  // namespace

extern "C" int handoff_run_late(handoff::ProcessTeam& team, std::uint64_t* rows,
                                std::size_t count) {
  try {
    (void)team.run<compute_late>(count, LateRows{rows});
    return -1;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}
