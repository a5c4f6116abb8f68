// SPDX-License-Identifier: MIT
// Which way fits some work, and what it will cost, by the rows of result files.
//
// Equal pieces that compute follow the curve of `grain`. Everything else is a model that is fitted
// to rows (cost_model.hpp): `loads`; nested tasks pay what `forkjoin` measured for a fork; jobs of
// processes by `spawn`; events, messages, commands and files by the scenarios of that name. No time
// is below the work by the threads, nor below the largest piece, and tasks take no less than empty
// ones in batches of that many (`tasks`). That a pool sleeps at first is not in it, unless latency
// is asked for, or the work comes in waves: beside the time stands how long a wake-up takes.
#pragma once

#include "report/cost_model.hpp"
#include "report/efficiency_curve.hpp"
#include "report/result.hpp"

namespace handoff::lab {

enum class Unit : std::uint8_t { piece, event, message, command, file };

// The work.
struct Question {
  double task_ns = 0;
  std::uint64_t count = 1;
  bool by_index = false;  // indices of a loop; else tasks
  bool nested = false;  // tasks hand over tasks and wait for them
  bool in_order = false;  // they must begin in the order of their handing over
  std::optional<double> idle_percent;  // of one CPU, that having nothing to do may cost
  std::optional<std::uint64_t> width;  // threads; nothing: the most that were measured
  Unit unit = Unit::piece;
  bool by_processes = false;  // a crash must not take the program with it
  bool for_latency = false;  // the way sleeps when the work comes; else it is busy
  bool bounded = false;  // what waits may not take memory without a bound
  bool durable = false;  // of files: a loss of power cannot undo them
  bool per_producer = false;  // order among what one thread hands over is enough
  std::uint64_t kinds = 1;  // of work, or types of messages
  std::uint64_t producers = 1;  // threads that hand over
  std::optional<double> bytes;  // of an event, a message, a file
  double largest = 1;  // piece, by the mean
  std::uint64_t waves = 1;  // in which they come, with pauses in between
  bool by_memory = false;  // memory bounds the work, not the CPU
};

// A way whose idle threads take no more of a CPU, in %, sleeps.
inline constexpr double kAsleepPercent = 0.1;

struct Way {
  std::string name;  // a contender, or `here`
  std::string call;  // what to write; empty where that is another library's affair
  double ns = 0;  // all tasks
  double low_ns = NAN;  // at 99 %; NaN: nobody knows
  double high_ns = NAN;
  double ns_per_task = 0;
  double after_idle_ns = 0;  // until the first one has run elsewhere; NaN: unknown, or never
  std::string source;  // the row that it follows from; empty: none
  std::string method;  // "the measured curve, 22 sizes"; empty: none was needed
  std::string reservation;  // of that row; empty: none
  std::string code;  // a line to paste; empty as `call`
  CostModel model;  // of `here`: the work
  EfficiencyCurve curve;
  RelativeRange overhead;  // of the curve's launches
  // What it is to own: this library's or another's, threads or processes, at rest.
  bool is_own = true;
  bool has_processes = false;
  double idle_percent = NAN;
  double memory_bytes = NAN;

  [[nodiscard]] bool is_asleep() const { return idle_percent <= kAsleepPercent; }
};

// What the question needs and no row tells. Of parameters that it does not name, any value would
// do. A value may be several, divided by commas.
struct Missing {
  std::string scenario;
  std::string metric;
  ParameterValues parameters;
};

// "grain metg50 unit=task width=2"
std::string text_of(const Missing& missing);
// The arguments of `handoff run` that would measure it.
std::string run_arguments(const Missing& missing);

// Beyond `at` the model has another way first.
struct Crossing {
  enum class Of : std::uint8_t { piece, count, bytes };
  Of of = Of::piece;
  bool above = false;  // else below
  double at = 0;  // ns, items or bytes
  std::string way;
};

struct Advice {
  std::uint64_t width = 0;
  // First those that nobody can tell from the fastest, the simplest to own first; and so on.
  std::vector<Way> ways;
  std::vector<std::pair<std::string, std::string>> left_out;  // who, and why
  std::vector<Missing> missing;  // none: there is advice
  std::vector<Crossing> changes;  // what would change it
  std::vector<std::string> equal;  // to the first one, as far as anybody can tell
  std::string unsure;  // why it may be wrong; empty: no reason is known
};

Advice advice_on(const Question& question, const Results& results);

// Only where nothing is missing.
std::string advice_text(const Question& question, const Advice& advice, bool styled);
// "if each takes less than 3.00 us: own.thread_team"
std::string text_of(const Crossing& change);
// "1.03 ms, 0.98 .. 1.10"
std::string time_text(const Way& way);
// "1.40x", or "equal".
std::string times_first(const Advice& advice, const Way& way);

}  // namespace handoff::lab
