// SPDX-License-Identifier: MIT
//
// How far apart two variables must lie if different threads write them.
//
// These constants replace std::hardware_destructive_interference_size, which changes with the
// compiler's flags; a public layout must not.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// The unit in which x86-64 and most ARM cores pass memory between each other, in bytes.
inline constexpr std::size_t cache_line = 64;

// What to align to so that neighbours do not disturb each other, in bytes: two lines, because
// Intel cores fetch lines in pairs (Intel optimization manual, "spatial prefetcher") and some ARM
// cores have lines of 128 bytes.
inline constexpr std::size_t destructive_span = 128;

}}}  // namespace handoff::HANDOFF_ABI::sync
