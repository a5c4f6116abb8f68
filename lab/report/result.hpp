// SPDX-License-Identifier: MIT
// A result: the rows of a run and where they were measured. Tables and the page are made from it
// alone, so that they can be made again later and elsewhere.
#pragma once

#include "harness/environment.hpp"
#include "harness/verdict.hpp"
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

// The row of a measurement: here, and nowhere else, its medians and intervals are computed.
// `seed` is that of the resamples.
Row finished_row(const Scenario& scenario, const Measurement& measurement, std::uint64_t seed);

// The parameters of a cell as a row has them.
ParameterValues parameters_of(const Scenario& scenario, const Cell& cell);

// Figures that cannot be: the threads have done more than so many can.
// Of rows of a result, which are all of their cells: those whose efficiency is above 1, or that are
// more times as fast as one thread than they have threads, beyond their range, are marked as
// impossible and lose their figures.
void mark_impossible(std::span<Row> rows);

// Rows judged against each other, by the one judge (harness/verdict.hpp).
// Nothing where there is no ratio: a row without figures, or with figures that are not above 0.
// What was measured in one block is paired burst by burst. `floor`: what two equal programs differ
// by on the machine.
std::optional<JudgedChange> judge_rows(const Row& now, const Row& before, double floor);

// The same of some of their launches, in a unit of which less is better unless `judging` says more.
std::optional<JudgedChange> judge_launches(const Launches& now, const Launches& before,
                                           const Judging& judging);

}  // namespace handoff::lab
