// SPDX-License-Identifier: MIT
//
// What the workers of a ProcessTeam do: blocks of the run that is on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/index_range.hpp>

#include "../core/failure_text.hpp"
#include "fork_server.hpp"
#include "handed_memory.hpp"
#include "team_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A worker's whole life, in whichever program it is.
//   call(job, arguments, range)  calls the job's kernel
//   step(name)                   for tests
//   tell()                       the master looks
template <class Call, class Step, class Tell>
void serve_team(const TeamArena& arena, std::uint32_t slot, std::uint32_t width, const Call& call,
                const Step& step, const Tell& tell) {
  TeamSlot& own = arena.slot(slot);
  std::uint64_t last = 0;
  arena.board().serve(
      slot, width, arena.words(),
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

class TeamLife final : public WorkerLife {
 public:
  // Maps what they share. `with_file`: with workers of other programs. Throws std::system_error.
  TeamLife(std::size_t width, std::size_t blocks, TeamWaits waits, bool with_file);

  const TeamArena& arena() const noexcept { return arena_; }

  void live(const ServerPlan& plan, std::uint32_t slot) noexcept override;
  void dismiss() noexcept override { arena_.board().dismiss(); }

 private:
  TeamArena arena_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
