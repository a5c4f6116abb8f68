// SPDX-License-Identifier: MIT
// What the rows tell of each way that may do some work: its curve, and the cells that its model is
// fitted to.
#pragma once

#include "report/advice.hpp"

namespace handoff::lab {

// Some parameters that rows must have.
using Wanted = std::vector<std::pair<const char*, ParameterValue>>;

// Of several rows of one contender the last one measured counts.
using ByContender = std::map<std::string, const Row*>;

// The rows of all results that say anything.
class MeasuredRows {
 public:
  explicit MeasuredRows(const Results& results);

  [[nodiscard]] std::vector<const Row*> of(const char* metric, const Wanted& wanted) const;
  // The same of a scenario, where its metric has a name that others have as well.
  [[nodiscard]] std::vector<const Row*> of(const char* scenario, const char* metric,
                                           const Wanted& wanted) const;
  // Those of ways: of this library's and of other ones.
  [[nodiscard]] ByContender ways(const char* metric, const Wanted& wanted) const;
  // Ways without a figure, since they answered wrongly, broke, or said what cannot be.
  [[nodiscard]] ByContender broken(const char* metric, const Wanted& wanted) const;
  // A contender's median, or NaN.
  [[nodiscard]] double median_of(const std::string& contender, const char* metric,
                                 const Wanted& wanted) const;

 private:
  std::vector<const Row*> rows_;
  std::vector<const Row*> broken_;
};

[[nodiscard]] bool is_row_of_a_way(const Row& row);
// The interval of what a time of it is.
[[nodiscard]] RelativeRange range_of(const Row& row);

// A way, and what was measured of it.
struct ToldWay {
  const Row* row = nullptr;  // that names it as its source
  EfficiencyCurve curve;  // of equal pieces that compute, all at once
  std::vector<CostCell> cells;
};
using ToldWays = std::map<std::string, ToldWay>;

// Pieces by threads: an index of a loop, or a task.
[[nodiscard]] ToldWays ways_of_pieces(const MeasuredRows& rows, const Question& question,
                                      const Wanted& at_width);
// The same by loads that were drawn at random; none where too few were measured.
[[nodiscard]] ToldWays ways_of_loads(const MeasuredRows& rows, const Question& question,
                                     std::uint64_t width);
// Such a load as advice is asked: what its row describes, and its time on one thread.
[[nodiscard]] Question question_of_load(const Row& row, double serial_ns);
// Pieces by processes.
[[nodiscard]] ToldWays ways_of_processes(const MeasuredRows& rows, const Question& question,
                                         std::uint64_t width);
// Events, messages, commands, files.
[[nodiscard]] ToldWays ways_of_others(const MeasuredRows& rows, const Question& question);
// What must be measured so that there are such ways.
[[nodiscard]] std::vector<Missing> missing_of_processes(const Question& question,
                                                        std::uint64_t width);
[[nodiscard]] std::vector<Missing> missing_of_others(const Question& question);

// How much there is of each term in pieces like these, done by so many threads.
[[nodiscard]] Terms amounts_of(const Question& question, std::uint64_t width);

}  // namespace handoff::lab
