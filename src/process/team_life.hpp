// SPDX-License-Identifier: MIT
//
// What the workers of a ProcessTeam do: blocks of the run that is on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>

#include "fork_server.hpp"
#include "team_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TeamLife final : public WorkerLife {
 public:
  // Maps what they share. Throws ProcessTeamError.
  TeamLife(std::size_t width, std::size_t blocks);

  const TeamArena& arena() const noexcept { return arena_; }

  void live(const ServerPlan& plan, std::uint32_t slot) noexcept override;
  void dismiss() noexcept override { arena_.board().dismiss(); }

 private:
  TeamArena arena_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
