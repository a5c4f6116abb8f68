// SPDX-License-Identifier: MIT
// Results, comparisons and advice as JSON. A result file follows schema 1
// (lab/schema/result-1.schema.json); nothing is computed here but its ladder (ladder.hpp).
#pragma once

#include "report/advice.hpp"
#include "report/comparison.hpp"

namespace handoff::lab {

// The text of a result file; bytes that are no UTF-8 (of the command line) are replaced.
std::string to_json_text(const Result& result);
std::string to_json_text(const std::vector<Compared>& rows);
std::string to_json_text(const Question& question, const Advice& advice);

// The result files as a list on one line, as a page carries them: those that were read as they
// were, with or without the single bursts.
std::string to_json_line(const Results& results, bool with_bursts);

// Reads result files, its own and foreign ones. What gets past here has the form that tables, page,
// comparison and exports rely on; keys that nobody here knows are left alone.
// Throws UserError with the file's name and what is wrong with it.
Result read_result(const std::filesystem::path& path);

}  // namespace handoff::lab
