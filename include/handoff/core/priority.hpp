// SPDX-License-Identifier: MIT
//
// Which of the things that wait comes first. Each type that has priorities says what they mean.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

enum class Priority : std::uint8_t { high, normal, low };

}}  // namespace handoff::HANDOFF_ABI
