// SPDX-License-Identifier: MIT
#include "team_life.hpp"

#include <bit>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/process/process_team_options.hpp>

#include "failure_text.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

TeamLife::TeamLife(std::size_t width, std::size_t blocks) {
  if (const int error = arena_.map(width, blocks); error != 0) {
    throw ProcessTeamError(ProcessTeamStep::memory, error);
  }
}

void TeamLife::live(const ServerPlan& plan, std::uint32_t slot) noexcept {
  TeamSlot& own = arena_.slot(slot);
  arena_.board().serve(
      slot, plan.width, arena_.words(),
      [&](std::uint64_t run, const TeamJob& job, const void* arguments, IndexRange range) {
        plan.tell_step("claimed", slot);
        const auto kernel = std::bit_cast<BlockCall>(job.kernel);
        const bool well = attempt(
            [&] { kernel(arguments, range); },
            [&] { keep_failure_text([&](const char* text) noexcept { own.keep(run, text); }); });
        plan.tell_step("computed", slot);
        return well;
      },
      [&] {
        plan.tell_step("over", slot);
        plan.tell_master();
        plan.tell_step("told", slot);
      });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
