// SPDX-License-Identifier: MIT
//
// What can be asked of one run over an index range (bulk.hpp), or of a loop (parallel_for.hpp).
//
//   team.run(rows, compute, {.block = 16, .until = token});
//   handoff::parallel_for(pool, 0, n, body, {.until = 10ms});
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct RunOptions {
  // The fewest indices in a block; 0: the executor decides (run() of threads: 1; parallel_for:
  // 1/512 of a member's share). ceil(count / width) makes one block a member, for work that is
  // better done in one piece.
  std::size_t block = 0;

  // Blocks that have not begun by then do not begin. Where it can end, blocks of threads take about
  // 50 us, if they are not to be larger: so the run ends soon.
  Until until = {};
};

namespace detail {
// The same for a run that outlives the call: the token is kept, too.
inline RunOptions keep_in(sync::StopToken& token, const RunOptions& options) {
  token = options.until.stop_token();
  return {.block = options.block, .until = {options.until.deadline(), token}};
}
}  // namespace detail

}}  // namespace handoff::HANDOFF_ABI
