// SPDX-License-Identifier: MIT
//
// What can be asked of one run over an index range (bulk.hpp).
//
//   team.run(rows, compute, {.block = 16, .stop = token});
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct RunOptions {
  // The fewest indices worth a claim; 0 and 1: whoever runs it decides. ceil(count / width) makes
  // one block a member, for work that is better done in one piece.
  std::size_t block = 0;

  // Blocks that have not begun by then do not begin.
  sync::StopToken stop = {};
  sync::Deadline deadline = sync::no_deadline;
};

}}  // namespace handoff::HANDOFF_ABI
