// SPDX-License-Identifier: MIT
// Where a command's text goes: to a file as a whole, or to stdout.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "report/result.hpp"

namespace handoff::lab {

// Throws UserError unless `output` can be written and is none of the inputs: a slip of the shell's
// completion must not cost a measurement. An empty path is stdout.
void require_output(const std::filesystem::path& output,
                    const std::vector<std::filesystem::path>& inputs,
                    std::string_view option = "--output");

// Says on stderr that a result which was read is only a part of what was asked for, if it is.
void say_if_interrupted(const Result& result, const std::filesystem::path& path);

void write_text(const std::filesystem::path& output, std::string_view text);

}  // namespace handoff::lab
