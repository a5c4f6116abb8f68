// SPDX-License-Identifier: MIT
// The parts of the page, as data for its template (page.mustache), which only places them.
#pragma once

#include <kainjow/mustache.hpp>

#include "report/ladder.hpp"
#include "report/view.hpp"

namespace handoff::lab {

using Data = kainjow::mustache::data;

template <class All, class Make>
Data data_list(const All& all, Make make) {
  Data list{Data::type::list};
  for (const auto& one : all) list.push_back(make(one));
  return list;
}

// What the template knows under these names.
inline Data object(std::initializer_list<std::pair<const char*, Data>> fields) {
  Data all;
  for (const auto& [name, value] : fields) all.set(name, value);
  return all;
}

// Up to so many machines stand side by side; of more there are strips and sums.
inline constexpr std::size_t most_side_by_side = 4;

// One cell on all machines; a machine that did not measure it has no rows.
struct MergedCell {
  CellView work;                   // its rows are not used
  std::string id;                  // of its heading
  std::vector<CellView> machines;  // as many as there are machines
};

struct MergedScenario {
  std::string name;
  std::string id;
  std::vector<MergedCell> cells;
  std::map<std::string, int> styles;  // of lines, by contender
};

std::vector<MergedScenario> merged(const std::vector<MachineView>& machines);

// metric and parameters, the heading of a cell
std::string title_of(const CellView& work);

// HTML of a contender's name that may break at its dots.
std::string breakable(const std::string& name);

// A value in a table.
Data figure(const ShownFigure& shown);

Data strip_table(const MergedCell& cell);
// `folded`: many machines; the table waits behind a line that unfolds it.
Data bar_table(const MergedCell& cell, bool folded);

// This library against the best other way in each cell, judged.
Data summary(const std::vector<MergedScenario>& scenarios,
             const std::vector<MachineView>& machines);

// Scaling with each parameter that has three values or more, and the curves that rows carry.
Data line_charts(const MergedScenario& scenario, const std::vector<MachineView>& machines);

// Efficiency against the size of a task, by each way of this machine, with its METG(50 %); a list
// without elements where that was not measured.
Data efficiency_chart(const std::vector<MergedScenario>& scenarios,
                      const std::vector<MachineView>& machines, std::size_t machine);

// Common cases of work, and the way that is the best for each of them.
Data advice_tables(const Results& results);

struct MachineLadder {
  std::size_t machine = 0;
  Ladder ladder;
};

// Of the machines with a result that has rungs, in their order.
std::vector<MachineLadder> ladders_on(const std::vector<MachineView>& machines);

// The answers above all tables; those of the first machine that has a ladder. Without one there are
// none. `first_alone`: the ladders of further machines are left out.
void set_answers(Data& page, const std::vector<MachineLadder>& ladders,
                 const std::vector<MachineView>& machines,
                 const std::vector<MergedScenario>& scenarios, bool first_alone);

// The tables of a scenario's articles beside the machines'.
Data article_tables(const MergedScenario& scenario, const std::vector<MachineView>& machines);

// The environment of each result file, in full.
Data environments(const std::vector<MachineView>& machines);

// Names and values, in the order of the file.
std::vector<std::pair<std::string, std::string>> facts_in_words(const Environment& environment);

}  // namespace handoff::lab
