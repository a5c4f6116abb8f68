// SPDX-License-Identifier: MIT
//
// The blocks that a counter hands out: block number n of a plan is the same for everybody who knows
// the sizes. So a claim is one fetch-and-add, of a word that processes share or of a remote one,
// and nothing else has to be told.
//
//   const BlockPlan plan({.count = rows, .claimers = 8});
//   while (n = counter.fetch_add(1), n < plan.blocks()) run(plan.block(n));
//
// Factoring: half of what is left is cut into as many blocks as there are claimers, again and
// again. So blocks begin large and end small, within `largest` and `smallest`.
//
// Concurrency: a value. Allocates, throws: never. Knows nothing of MPI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct BlockSizes {
  std::size_t count = 0;  // indices
  std::size_t claimers = 1;
  std::size_t smallest = 1;  // of a block, but for the last one
  std::size_t largest = SIZE_MAX;
};

class BlockPlan {
 public:
  BlockPlan() noexcept = default;
  explicit BlockPlan(const BlockSizes& sizes) noexcept {
    const std::size_t claimers = std::max<std::size_t>(sizes.claimers, 1);
    const std::size_t smallest = std::max<std::size_t>(sizes.smallest, 1);
    const std::size_t largest = std::max(sizes.largest, smallest);
    std::size_t first = 0;
    while (first < sizes.count) {
      const std::size_t left = sizes.count - first;
      // As many as there are claimers at most: a block has one index at least.
      const std::size_t portion = left / claimers / 2;
      const std::size_t size = std::clamp(portion, smallest, largest);
      std::size_t blocks = claimers;
      if (portion <= smallest || runs_ + 1 == most_runs) {
        blocks = left / size + (left % size != 0);
      } else if (portion > largest) {
        // Until half of what is left is no more than a largest block for each.
        blocks = (left - 2 * claimers * largest) / largest + 1;
      }
      run_[runs_++] = {first, blocks_, size};
      blocks_ += blocks;
      first = blocks > left / size ? sizes.count : first + blocks * size;
    }
    count_ = sizes.count;
  }

  std::uint64_t blocks() const noexcept { return blocks_; }

  // Empty from blocks() on.
  IndexRange block(std::uint64_t number) const noexcept {
    if (number >= blocks_) return {count_, count_};
    std::size_t at = runs_ - 1;
    while (run_[at].block > number) --at;
    const Run& run = run_[at];
    const std::size_t first = run.first + static_cast<std::size_t>(number - run.block) * run.size;
    return {first, std::min(first + run.size, count_)};
  }

 private:
  // Blocks of one size.
  struct Run {
    std::size_t first = 0;  // index
    std::uint64_t block = 0;  // number of the first block
    std::size_t size = 1;
  };
  // What is left is halved each time.
  static constexpr std::size_t most_runs = 72;

  Run run_[most_runs] = {};
  std::size_t runs_ = 0;
  std::uint64_t blocks_ = 0;
  std::size_t count_ = 0;
};

// A block with results has no more bytes than this, or one index: so its results are soon on their
// way, and its loss costs little.
inline constexpr std::size_t kMostResultBytes = std::size_t{1} << 20;
// A message has no more: MPI counts by int.
inline constexpr std::size_t kMostMessageBytes = std::size_t{1} << 30;

// Whose results have so many bytes: the most indices of a block.
constexpr std::size_t largest_block(std::size_t bytes_per_index) noexcept {
  if (bytes_per_index == 0) return SIZE_MAX;
  return std::max<std::size_t>(kMostResultBytes / bytes_per_index, 1);
}

// The two plans of a run of ranks: what a node claims of the world, and what its threads claim of
// that.
struct RankPlans {
  std::size_t count = 0;
  std::size_t nodes = 1;
  std::size_t width = 1;  // threads of all ranks of a node: of the largest
  std::size_t smallest = 1;
  std::size_t largest = SIZE_MAX;

  // A node takes at least so many of its smallest blocks for each thread.
  static constexpr std::size_t blocks_per_claim = 4;

  BlockPlan of_world() const noexcept {
    if (nodes <= 1) return BlockPlan({.count = count, .smallest = count});
    return BlockPlan(
        {.count = count, .claimers = nodes, .smallest = width * blocks_per_claim * smallest});
  }
  // Of the block of a node, with indices from 0 on.
  BlockPlan of_node(IndexRange block) const noexcept {
    return BlockPlan(
        {.count = block.size(), .claimers = width, .smallest = smallest, .largest = largest});
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
