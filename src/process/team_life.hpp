// SPDX-License-Identifier: MIT
//
// What the workers of a ProcessTeam do: blocks of the run that is on.
#pragma once

#include <bit>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/process/detail/team_board.hpp>

#include "../core/internal/failure_text.hpp"
#include "fork_server.hpp"
#include "handed_memory.hpp"
#include "process_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A worker's whole life, in whichever program it is.
//   call(job, arguments, range)  calls the job's kernel
//   step(name)                   for tests
//   tell()                       the master looks
template <class Call, class Step, class Tell>
void serve_team(const ProcessArena<TeamBoard>& arena, std::uint32_t slot, std::uint32_t width,
                const Call& call, const Step& step, const Tell& tell) {
  WorkerSlot& own = arena.slot(slot);
  std::uint64_t last = 0;
  arena.board().serve(
      slot, width, arena.team_words(),
      [&](std::uint64_t run, const TeamJob& job, const void* arguments, IndexRange range) {
        if (run != last) forget_unused_memory();
        last = run;
        step("claimed");
        const bool well = attempt(
            [&] { call(job, arguments, range); },
            [&] { keep_failure_text([&](const char* text) noexcept { own.keep(run, text); }); });
        step("computed");
        return well;
      },
      [&] {
        step("over");
        tell();
        step("told");
      });
}

class TeamLife final : public ArenaLife<TeamBoard> {
 public:
  using ArenaLife<TeamBoard>::ArenaLife;

  void live(const ServerPlan& plan, std::uint32_t slot) noexcept override {
    serve_team(
        arena(), slot, plan.width,
        [](const TeamJob& job, const void* arguments, IndexRange range) {
          std::bit_cast<BlockCall>(static_cast<std::uintptr_t>(job.kernel))(arguments, range);
        },
        [&](const char* step) noexcept { plan.tell_step(step, slot); },
        [&] { plan.tell_master(); });
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
