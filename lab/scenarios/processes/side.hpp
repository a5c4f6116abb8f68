// SPDX-License-Identifier: MIT
// The two processes of a contender, and what one of them picks of what there is for each way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace handoff::lab::processes {

enum class Side : std::uint8_t { first, second };

// The index of what a process sends by, and of what it receives by.
constexpr std::size_t sends_by(Side side) { return side == Side::first ? 0 : 1; }
constexpr std::size_t receives_by(Side side) { return side == Side::first ? 1 : 0; }

}  // namespace handoff::lab::processes
