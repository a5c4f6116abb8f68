// SPDX-License-Identifier: MIT
// Which way fits some work, and what it will cost, by the rows of result files.
//
// A task's time comes from the efficiency that `grain` measured at its size, but is no less than
// what empty tasks cost in batches of that many (`tasks`); nested ones pay what `forkjoin` measured
// for a fork. All tasks together take no less than the longest row of them on one thread. That a
// pool sleeps at first is not in it: beside the time stands how long its wake-up takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/result.hpp"

namespace handoff::lab {

// The work.
struct Question {
  double task_ns = 0;
  std::uint64_t count = 1;
  bool by_index = false;  // indices of a loop; else tasks
  bool nested = false;  // tasks hand over tasks and wait for them
  bool in_order = false;  // they must begin in the order of their handing over
  std::optional<double> idle_percent;  // of one CPU, that having nothing to do may cost
  std::optional<std::uint64_t> width;  // threads; nothing: the most that were measured
};

struct Way {
  std::string name;  // a contender, or `here`
  std::string call;  // what to write; empty where that is another library's affair
  double ns = 0;  // all tasks
  double ns_per_task = 0;
  double after_idle_ns = 0;  // until the first one has run elsewhere; NaN: unknown, or never
  std::string source;  // the row that it follows from; empty: none
  std::string reservation;  // of that row; empty: none
};

// What the question needs and no row tells. Of parameters that it does not name, any value would
// do.
struct Missing {
  std::string scenario;
  std::string metric;
  ParameterValues parameters;
};

// "grain metg50 unit=task width=2"
std::string text_of(const Missing& missing);
// The arguments of `handoff run` that would measure it.
std::string run_arguments(const Missing& missing);

struct Advice {
  std::uint64_t width = 0;
  std::vector<Way> ways;  // the cheapest first
  std::vector<std::pair<std::string, std::string>> left_out;  // who, and why
  std::vector<Missing> missing;  // none: there is advice
};

Advice advice_on(const Question& question, const Results& results);

// Only where nothing is missing.
std::string advice_text(const Question& question, const Advice& advice, bool styled);

}  // namespace handoff::lab
