// SPDX-License-Identifier: MIT
//
// A shared object with a kernel of its own, for a test to load after a team was made.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/process/process_team.hpp>

// Has the team compute `rows` with the object's kernel: row i is 7 * i. -1, or the errno
// that it was refused with.
using RunLate = int(handoff::ProcessTeam& team, std::uint64_t* rows, std::size_t count);
extern "C" RunLate handoff_run_late;
