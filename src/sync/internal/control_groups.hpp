// SPDX-License-Identifier: MIT
//
// The cgroups that this process is in, and their files: limits of CPU time and of memory.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// The two kinds of hierarchy.
enum class Hierarchy { v1, v2 };

struct ControlGroup {
  Hierarchy hierarchy;
  std::string folder;  // its files are there
};

// Each group that limits this process by a controller ("cpu", "memory"), as far as they can be
// seen, from the outermost on. `root` stands before every path. Throws std::bad_alloc.
std::vector<ControlGroup> control_groups(const std::string& root, std::string_view controller);

// The lines of a file, as much of it as can be read, and the first of them.
std::vector<std::string> read_lines(const std::string& path);
std::string first_line(const std::string& path);
// The parts between separators. With a blank as separator, empty parts do not count.
std::vector<std::string_view> split(std::string_view text, char separator);
// The text is a number and nothing else, or there is none.
std::optional<std::uint64_t> parse_number(std::string_view text);

}}}  // namespace handoff::HANDOFF_ABI::sync
