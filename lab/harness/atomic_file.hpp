// SPDX-License-Identifier: MIT
// A result is there as a whole or not at all.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Throws UserError unless a file can be written there. Leaves nothing behind: ask before the work.
void require_writable(const std::filesystem::path& path);

// Writes the parts one after the other to a temporary beside `path` and renames it. Nobody may do
// more with a file that takes the place of another than with that one. A device or a pipe is
// written directly, and so is a file that cannot be replaced, as one that is mounted by itself.
// Throws UserError; what was there before is left, unless it was written directly.
void write_atomically(const std::filesystem::path& path,
                      const std::vector<std::span<const std::byte>>& parts);
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace handoff::lab
