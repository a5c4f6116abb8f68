// SPDX-License-Identifier: MIT
// The result file, schema 1 (lab/schema/result-1.schema.json). Tables and the page are made from
// it alone, so that they can be made again later and elsewhere.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "harness/bursts.hpp"

namespace handoff::lab {

// A measured row with its medians and intervals.
nlohmann::json row_to_json(const Scenario& scenario, const Row& row, std::uint64_t seed);

nlohmann::json article_to_json(const Scenario& scenario, const Article& article);

nlohmann::json result_file(nlohmann::json environment, nlohmann::json rows,
                           nlohmann::json articles);

// The text of a result file; bytes that are no UTF-8 (of the command line) are replaced.
std::string to_text(const nlohmann::json& result);

}  // namespace handoff::lab
