// SPDX-License-Identifier: MIT
//
// What the ranks of a run tell each other beside results: words to rank 0, and its words to all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/mpi/rank_team_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum RankTag : int { kWordTag = 1, kDataTag = 2 };

enum class StopCause : std::uint32_t { none, stopped, expired };

using RankText = std::array<char, 384>;
inline RankText rank_text(std::string_view text) noexcept {
  RankText copy{};
  text.copy(copy.data(), copy.size() - 1);
  return copy;
}

// What became of the blocks of a rank, or of all.
struct RankFigures {
  std::uint64_t done = 0;  // indices
  std::uint64_t failed = 0;
  RankStatistics statistics = {};

  void add(const RankFigures& other) noexcept {
    done += other.done;
    failed += other.failed;
    statistics.node_blocks += other.statistics.node_blocks;
    statistics.blocks += other.statistics.blocks;
    statistics.own_blocks += other.statistics.own_blocks;
    statistics.messages += other.statistics.messages;
  }
};

struct RankWord {
  enum class Kind : std::uint32_t {
    alive,
    finished,  // to rank 0: `range`; its results come after it, if the run has some
    stop,  // a rank's `until` has ended
    end,  // this rank has no more blocks; by rank 0, when all have said so: the run is over
    lost,  // by rank 0: a rank is, and the job
  };
  Kind kind = Kind::alive;
  StopCause cause = StopCause::none;
  int error = 0;  // of rank 0, with `text`
  IndexRange range = {};
  RankFigures figures = {};  // of an end: of the rank, or of all
  RankText text = {};  // of the first block that threw, or empty; or why it is lost
};

}}}  // namespace handoff::HANDOFF_ABI::detail
