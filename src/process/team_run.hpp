// SPDX-License-Identifier: MIT
//
// One run of a ProcessTeam, as the work of its master: a table of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/sync/clock.hpp>
#include <vector>

#include "process_arena.hpp"
#include "process_master.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TeamRun final : ProcessMaster::Work {
 public:
  // `number` is that of the last run; each run takes the next, or more. `early`: how many workers
  // are woken at once (TB-3).
  TeamRun(ProcessMaster& master, const ProcessArena<TeamBoard>& arena,
          const ProcessTeamOptions& options, const Until& until, std::uint32_t early,
          std::uint64_t& number, std::vector<LostWork>& lost) noexcept
      : master_(master),
        arena_(arena),
        options_(options),
        until_(until),
        early_(early),
        number_(number),
        lost_(lost) {}

  // Returns when all is over. The Tally has the first failure.
  Tally lead(const TeamJob& job, const void* arguments);

 private:
  enum class Closed : std::uint8_t { no, stopped, late, no_workers };

  bool bury(const TeamCrew::Death& death) override;
  void all_buried() override;
  void look() override;
  void show_claims() override;
  bool is_there() const override { return true; }
  void give_up() override { close(Closed::no_workers); }

  void open();
  bool has_had_its_tries(std::size_t block);
  void begin_again();
  void close(Closed why);
  ClaimCount count();
  bool is_over(bool told);
  void ring_first();
  void ring_again();
  void look_at_pace();
  sync::Deadline next_look() const noexcept;
  Tally settle() const;
  std::exception_ptr first_failure() const;
  ClaimTable table() const noexcept { return arena_.team_words().table(job_.blocks()); }
  Claim look_at(std::size_t block) const noexcept {
    return table().look(number_, master_.width(), block);
  }

  ProcessMaster& master_;
  const ProcessArena<TeamBoard>& arena_;
  const ProcessTeamOptions& options_;
  const Until& until_;
  const std::uint32_t early_;
  std::uint64_t& number_;
  std::vector<LostWork>& lost_;
  TeamJob job_;
  const void* arguments_ = nullptr;

  Closed closed_ = Closed::no;
  std::size_t closed_indices_ = 0;  // taken by close()
  bool had_any_ = false;  // of those that died at this look
  std::vector<std::uint8_t> ends_;  // reset_all, by block: workers that it has ended
  bool is_lost_ = false;  // ... and one of them has had its tries
  std::size_t mended_ = 0;
  std::size_t ended_ = 0;  // blocks, at the last look
  sync::Deadline pace_at_ = sync::no_deadline;  // when to look at the pace; never: all are woken
  sync::Deadline paced_at_;  // the last look
  std::size_t paced_ = 0;  // blocks that had ended then
};

}}}  // namespace handoff::HANDOFF_ABI::detail
