// SPDX-License-Identifier: MIT
// Reads result files, its own and foreign ones. What gets past here has the form that tables, page,
// comparison and exports rely on; keys that nobody here knows are left alone.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace handoff::lab {

// Throws UserError with the file's name and what is wrong with it.
nlohmann::json read_result(const std::filesystem::path& path);

// What keeps `result` from being a result file of schema 1, or nothing (an empty text).
std::string fault_of(const nlohmann::json& result);

}  // namespace handoff::lab
