// SPDX-License-Identifier: MIT
// A result: the rows of a run and where they were measured. Tables and the page are made from it
// alone, so that they can be made again later and elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/environment.hpp"
#include "harness/scenario.hpp"
#include "harness/watched_bench.hpp"
#include "report/row.hpp"

namespace handoff::lab {

// What an article measured on its machine, to stand beside the rows.
struct ArticleTable {
  std::string scenario;
  std::string title;
  std::string metric;  // empty: any
  ParameterValues parameters;
  double metric_ms = NAN;  // what 1 of the metric is in ms; NaN: it tells a time
  double items = NAN;      // that took it; NaN: an operation's
  std::vector<ArticleRow> rows;
};

// Which ways stand on a rung of an overview's ladder. The figures are in the rows.
struct RungChoice {
  std::string name;
  std::string scenario;
  std::string metric;
  ParameterValues parameters;
  std::string own;  // contenders; empty: none was measured
  std::vector<std::string> peers;  // the best of them stands for all
  std::string today;
  std::string limit;
};

struct Result {
  Environment environment;
  std::vector<Row> rows;
  std::vector<ArticleTable> articles;
  std::vector<RungChoice> rungs;
  bool interrupted = false;  // ended early, by Ctrl-C: not all that was asked for is there
  std::vector<std::optional<BlockReport>> blocks;  // by Row::block; nothing: not watched
  std::string text;  // as it was read, with what only others know; empty: it was measured
};

using Results = std::vector<const Result*>;

// Finishes the rows of a block that was measured, and appends them. `seed` is that of resamples.
void append_block(Result& result, const Scenario& scenario, const std::vector<Measurement>& block,
                  const std::optional<BlockReport>& report, std::uint64_t seed);

ArticleTable table_of(const Scenario& scenario, const Article& article);

}  // namespace handoff::lab
