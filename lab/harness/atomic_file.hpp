// SPDX-License-Identifier: MIT
// A result is there as a whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace handoff::lab {

// Throws UserError unless a file can be written there. Leaves nothing behind: ask before the work.
void require_writable(const std::filesystem::path& path);

// Writes the parts one after the other to a temporary beside `path` and renames it; a device or a
// pipe is written directly. Throws UserError and leaves what was there before.
void write_atomically(const std::filesystem::path& path,
                      const std::vector<std::span<const std::byte>>& parts);
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace handoff::lab
