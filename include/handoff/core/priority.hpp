// SPDX-License-Identifier: MIT
//
// Which of the things that wait comes first. Each type that has priorities says what they mean.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

enum class Priority : std::uint8_t {
  high,    // before all others
  normal,  // the default
  low,     // where nothing else is left to do
};

}}  // namespace handoff::HANDOFF_ABI
