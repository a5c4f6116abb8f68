// SPDX-License-Identifier: MIT
// The items of the metric `loop`: each is its index, mixed, a fraction of a nanosecond of work that
// compilers turn into vector instructions if the loop around it lets them.
#pragma once

#include <cstdint>

namespace handoff::lab::grain {

using Tiny = std::uint32_t;

constexpr Tiny tiny(Tiny index) {
  index = (index ^ (index >> 16)) * 0x85ebca6bU;
  index = (index ^ (index >> 13)) * 0xc2b2ae35U;
  return index ^ (index >> 16);
}

}  // namespace handoff::lab::grain
