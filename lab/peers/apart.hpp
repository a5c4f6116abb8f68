// SPDX-License-Identifier: MIT
// How far apart lies what one thread writes and what another one reads, where a measurement has
// both: the queue that is measured decides what its own threads share.
#pragma once

#include <cstddef>

namespace handoff::lab::peers {

inline constexpr std::size_t kApart = 128;  // two lines, which some processors fetch together

}  // namespace handoff::lab::peers
