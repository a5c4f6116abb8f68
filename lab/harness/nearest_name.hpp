// SPDX-License-Identifier: MIT
// For a name that does not exist: the one that was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace handoff::lab {

// "did you mean 'ikj'?" where a name is near enough, else "known: ikj, naive, tile".
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace handoff::lab
