// SPDX-License-Identifier: MIT
//
// What a bounded type does with one item too many. Each type names those that it has, and which is
// its default.
//
// Whatever it is, a refused item is still the caller's: the place is reserved before anything is
// moved.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

enum class OnFull : std::uint8_t {
  reject,            // the call says `full`
  wait,              // the call blocks until there is room
  run_here,          // the calling thread does the work itself, before the call returns
  grow,              // more memory
  overwrite_oldest,  // the oldest item gives way and counts as expired
};

}}  // namespace handoff::HANDOFF_ABI
