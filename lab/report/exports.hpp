// SPDX-License-Identifier: MIT
// A result in forms that other programs read.
#pragma once

#include "report/result.hpp"

namespace handoff::lab {

struct Export {
  const char* name;  // of the form, on the command line
  std::string (*text)(const Result& result);
};

// google-benchmark: the JSON of Google Benchmark (its docs/user_guide.md), a benchmark for each
//   row, named scenario/metric/parameters/contender, with the row's metric and interval as
//   counters; a row without figures is one with an error.
// csv: a line for each row (RFC 4180); a column parameter.NAME for each parameter and figure.NAME
//   for each reported figure.
// markdown: a table for each cell.
// ladder: the ladder of an overview in Markdown, for a README.
const std::array<Export, 4>& all_exports();

// The ladder as text for a README: its sentence, a table with a line for each rung, and what it was
// measured on.
// Throws UserError where no rungs were chosen.
std::string ladder_markdown(const Result& result);

// A result as tables for a terminal.
// `styled`: with escape sequences for a terminal.
std::string tables(const Result& result, bool styled);

}  // namespace handoff::lab
