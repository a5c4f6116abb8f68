// SPDX-License-Identifier: MIT
//
// What the ranks of a run tell each other beside results: reports to rank 0, and its verdicts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/mpi/rank_team_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum RankTag : int { kReportTag = 1, kDataTag = 2, kVerdictTag = 3 };

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

// To rank 0.
struct RankReport {
  enum class Kind : std::uint32_t {
    alive,
    finished,  // `range`; its results come after it, if the run has some
    stop,  // this rank's `until` has ended
    end,  // this rank has no more blocks
  };
  Kind kind = Kind::alive;
  StopCause cause = StopCause::none;
  IndexRange range = {};
  RankFigures figures = {};
  RankText failure = {};  // of its first block that threw; empty: none
};

// To all others.
struct RankVerdict {
  enum class Kind : std::uint32_t { alive, stop, end, lost };
  Kind kind = Kind::alive;
  StopCause cause = StopCause::none;
  int error = 0;  // of rank 0, with `text`
  RankFigures figures = {};  // of all
  RankText text = {};  // the first failure; or why it is lost
};

}}}  // namespace handoff::HANDOFF_ABI::detail
