// SPDX-License-Identifier: MIT
// A result file as one HTML page that needs no network and no JavaScript.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace handoff::lab {

std::string page(const nlohmann::json& result);

}  // namespace handoff::lab
