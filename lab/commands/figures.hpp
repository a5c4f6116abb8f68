// SPDX-License-Identifier: MIT
// The figures that must hold, as tests/figures.toml states them, and how a measurement is judged.
#pragma once

#include "report/row.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {

// What is set against what, on the same work. Of several opponents the better one counts; without
// any the value itself does.
struct Comparison {
  std::string contender;
  Cell cell;
  std::vector<std::string> against;
  Cell against_cell;

  [[nodiscard]] std::string text() const;
};

struct Figure {
  std::string name;
  Scenario* scenario = nullptr;
  const Metric* metric = nullptr;
  bool in_time = false;  // the ratio of the times; else of the metric, or the metric alone
  bool at_most = false;  // the bound is an upper one; else a lower one
  double bound = 0;
  bool geometric_mean = false;  // of all comparisons; else each must hold by itself
  std::vector<Comparison> comparisons;
};

// Throws UserError that names the file, the line and what is wrong there.
std::vector<Figure> read_figures(const std::filesystem::path& path, const Scenarios& scenarios);

enum class Verdict { holds, falls_short, open, unmeasured };

struct Judged {
  Verdict verdict = Verdict::unmeasured;
  std::string what;    // of the figure: a cell, or how many
  double value = 0;    // these two unless there is a reason
  Interval bounds{};
  std::string reason;  // why there is no value
};

// By the rows of a result: one verdict for each comparison, or one for their mean. A figure holds
// if its whole 99 % interval is inside the bound, falls short if all of it is outside; else it is
// open.
std::vector<Judged> judge(const Figure& figure, const std::vector<Row>& rows, std::uint64_t seed);

// How often it was measured: the blocks in which all contenders that are compared have met.
int passes_of(const Figure& figure, const Comparison& comparison, const std::vector<Row>& rows);

}  // namespace handoff::lab
