// SPDX-License-Identifier: MIT
//
// Finished blocks on their way from the threads that compute to the one that calls MPI, with a
// bound. It outlives the runs: who ends one may still be in push() when the next one begins.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>

#include "rank_bell.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Memory for the results of a block.
struct ResultBytes {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};

struct FinishedBlock {
  IndexRange range;  // empty: no more will come in this run
  ResultBytes results;  // null: there are none, or they are in place
};

class Outbox {
 public:
  // `bell`: of the one that calls MPI. `most`: blocks that wait, or the next power of two.
  Outbox(RankBell& bell, std::size_t most) : bell_(bell), blocks_(most), spare_(most) {}

  // Waits for room.
  void push(FinishedBlock&& block) {
    (void)blocks_.push(std::move(block));
    bell_.ring();
  }
  std::optional<FinishedBlock> pop() { return blocks_.try_pop(); }

  // Memory that an earlier block had costs no page faults.
  ResultBytes take_memory(std::size_t size) {
    std::optional<ResultBytes> spare = spare_.try_pop();
    if (spare && spare->size >= size) return std::move(*spare);
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }
  // Keeps what a thread may want at a time.
  void give_back(ResultBytes&& memory) { (void)spare_.try_push(std::move(memory)); }

 private:
  RankBell& bell_;
  Channel<FinishedBlock> blocks_;
  MpmcRing<ResultBytes> spare_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
