// SPDX-License-Identifier: MIT
#include "team_life.hpp"

#include <bit>
#include <handoff/core/kernel.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/process/process_team_options.hpp>

#include "../core/call_failed.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

TeamLife::TeamLife(std::size_t width, std::size_t blocks, TeamWaits waits, bool with_file) {
  if (const int error = arena_.map(width, blocks, waits, with_file); error != 0) {
    raise(call_failed(error, kNoTeamMemory));
  }
}

void TeamLife::live(const ServerPlan& plan, std::uint32_t slot) noexcept {
  serve_team(
      arena_, slot, plan.width,
      [](const TeamJob& job, const void* arguments, IndexRange range) {
        std::bit_cast<BlockCall>(job.kernel)(arguments, range);
      },
      [&](const char* step) noexcept { plan.tell_step(step, slot); }, [&] { plan.tell_master(); });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
