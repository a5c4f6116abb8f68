// SPDX-License-Identifier: MIT
//
// Whether a thread works for a team: where it must not wait for a team's turn. Not for users.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The calling thread is inside a block or a completion of some ThreadTeam, however deep.
bool is_inside_a_team() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
