// SPDX-License-Identifier: MIT
//
// One run of a ProcessTeam, as its master leads it.
//
// The master waits for the kernel's word only: descriptors and time. Each time that it wakes it
// counts the words of the table; what a worker tells is a reason to wake and nothing else, so a
// worker that dies between its last block and the bell is no special case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/sync/clock.hpp>
#include <span>
#include <vector>

#include "team_arena.hpp"
#include "team_crew.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TeamRun {
 public:
  // `number` is that of the last run; each run takes the next, or more. `early`: how many workers
  // are woken at once (TB-3).
  TeamRun(TeamCrew& crew, const TeamArena& arena, const ProcessTeamOptions& options,
          std::uint32_t early, std::uint64_t& number, std::vector<LostWork>& lost) noexcept
      : crew_(crew),
        arena_(arena),
        options_(options),
        early_(early),
        number_(number),
        lost_(lost) {}

  // Returns when all is over. The Tally has the first failure.
  Tally lead(const TeamJob& job, const void* arguments, const RunOptions& options);

 private:
  enum class Closed : std::uint8_t { no, stopped, late, no_workers };

  // What is known of a slot's claim, for the limit.
  struct Watched {
    Claim claim;
    std::size_t block = ClaimTable::none;
    sync::Deadline since;
  };

  void open();
  void handle(const std::vector<TeamCrew::Death>& deaths);
  bool has_had_its_tries(std::size_t block);
  void begin_again();
  void refill();
  void look_at_limit();
  void close(Closed why);
  ClaimCount count();
  bool is_over(bool told);
  void ring_first();
  void ring_again();
  void look_at_pace();
  sync::Deadline next_look(const RunOptions& options) const noexcept;
  Tally settle() const;
  std::exception_ptr first_failure() const;
  ClaimTable table() const noexcept { return arena_.words().table(job_.blocks()); }

  TeamCrew& crew_;
  const TeamArena& arena_;
  const ProcessTeamOptions& options_;
  const std::uint32_t early_;
  std::uint64_t& number_;
  std::vector<LostWork>& lost_;
  TeamJob job_;
  const void* arguments_ = nullptr;

  Closed closed_ = Closed::no;
  std::size_t closed_blocks_indices_ = 0;  // taken by close()
  std::vector<std::uint8_t> ends_;  // reset_all, by block: workers that it has ended
  bool given_up_ = false;  // ... and one of them has had its tries
  std::size_t mended_ = 0;
  std::size_t idle_deaths_ = 0;  // of workers that were at no block, since a block was ended
  std::size_t ended_ = 0;  // blocks, at the last look
  int refused_ = 0;  // why there is no worker
  sync::Deadline none_since_ = sync::no_deadline;  // since when there is none
  sync::Deadline pace_at_ = sync::no_deadline;  // when to look at the pace; never: all are woken
  sync::Deadline paced_at_;  // the last look
  std::size_t paced_ = 0;  // blocks that had ended then
  std::vector<Watched> watched_;
  sync::Deadline watched_at_;
  sync::Deadline idle_since_;  // since when nobody is at a block, though some are free
};

}}}  // namespace handoff::HANDOFF_ABI::detail
