// SPDX-License-Identifier: MIT
// Reads result files, its own and foreign ones. What gets past here has the form that tables, page,
// comparison and exports rely on; keys that nobody here knows are left alone.
#pragma once

#include <filesystem>

#include "report/result.hpp"

namespace handoff::lab {

// Throws UserError with the file's name and what is wrong with it.
Result read_result(const std::filesystem::path& path);

}  // namespace handoff::lab
