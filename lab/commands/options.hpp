// SPDX-License-Identifier: MIT
// What the command line said, for the commands.
#pragma once

#include "report/scale_model.hpp"

namespace handoff::lab {

// How to measure; `run` and `gate` share it.
inline constexpr int most_launches = 1000;  // of --launches
inline constexpr int most_passes = 1000;    // of --passes

struct MeasureOptions {
  std::optional<int> launches;
  std::optional<double> time_budget_s;  // for each cell
  bool quick = false;
  bool no_probe = false;  // trust the machine
  std::optional<std::chrono::nanoseconds> burst;  // its least time; nothing: as is usual
  std::optional<std::uint64_t> seed;
  std::vector<std::filesystem::path> manifests;  // contenders beside those of the build
  std::filesystem::path output;                  // empty: no result file
  std::vector<std::string> command_line;
};

struct RunOptions {
  MeasureOptions measure;
  std::vector<std::string> scenarios;   // none: all
  std::vector<std::string> rungs;       // of the ladder, instead of scenarios
  std::vector<std::string> settings;    // n=512,1024
  std::vector<std::string> metrics;     // none: all; in an overview, those that belong there
  std::vector<std::string> contenders;  // patterns; none: all
  std::string kill;                     // so many workers a second; empty: none
  std::optional<double> wait_quiet_s;   // wait so long at most for a quiet moment
  bool json = false;
  bool targets = false;  // say what to build, and that is all
  bool verbose = false;  // the tables too, where an overview prints its ladder
  std::filesystem::path page;
  std::filesystem::path a;  // these three: real input instead of the scenario's own
  std::filesystem::path b;
  std::filesystem::path result;
  std::size_t ranks = 0;  // of an Open MPI job; these three: matmul only
  std::vector<std::string> hosts;
  bool oversubscribe = false;

  // Rungs of the ladder: those named, or all of them for a quick look at everything, which is to
  // take minutes however much there is.
  [[nodiscard]] bool is_overview() const noexcept {
    return !rungs.empty() ||
           (measure.quick && scenarios.empty() && settings.empty() && metrics.empty());
  }
};

struct ListOptions {
  std::string name;  // of a scenario or a rung; empty: all there is
  std::vector<std::filesystem::path> manifests;
};

struct GateOptions {
  MeasureOptions measure;
  std::filesystem::path figures;
  std::vector<std::string> parts;  // of a figure's name, or its scenario; none: all figures
  std::filesystem::path results;  // judge these instead of measuring
  std::filesystem::path keep;  // a folder with what was measured, and to be; empty: nowhere
  int passes = 4;  // at most, over all that is open
};

struct GuardOptions {
  MeasureOptions measure;
  std::filesystem::path cells;
  std::string revision;
  double within_s = 1500;  // with the revision's build
  int planted = 0;  // %: try the guard itself
  bool targets = false;  // say what to build, and that is all
};

struct CompareOptions {
  MeasureOptions measure;  // with a revision
  std::vector<std::string> what;  // two result files; with a revision scenarios, none: all
  std::string revision;  // empty: compare files
  std::vector<std::string> settings;  // these two with a revision
  std::vector<std::string> metrics;
  bool json = false;
};

struct ReportOptions {
  std::vector<std::filesystem::path> results;
  std::filesystem::path output;  // empty: stdout
  std::filesystem::path ladder;  // the ladder alone, as a picture; empty: none
};

struct ExportOptions {
  std::string form;  // google-benchmark, csv, markdown, ladder
  std::filesystem::path result;
  std::filesystem::path output;  // empty: stdout
};

struct DoctorOptions {
  bool json = false;
  std::filesystem::path output;
  std::vector<std::filesystem::path> manifests;
  bool self_test = false;
  int equals = 200;  // comparisons of the self-test: of a contender with itself
  int planted = 100;  // and with itself doing 5 % more
  std::size_t canary_launches = 128;  // of each side, at most
  std::optional<std::uint64_t> seed;
  std::vector<std::string> command_line;
};

struct AdviseOptions {
  std::vector<std::filesystem::path> results;  // none: where ./run leaves them
  // The questions, as they are answered. Without any answer a person at a terminal is asked.
  std::optional<std::string> unit;
  std::optional<std::string> grain;  // 20us
  std::optional<std::uint64_t> count;
  std::optional<std::string> nesting;
  std::optional<std::string> order;
  std::optional<std::string> isolation;
  std::optional<std::string> goal;
  std::optional<std::string> memory;
  std::optional<std::string> bound;
  std::optional<std::string> durable;
  std::optional<std::string> bytes;
  std::optional<std::uint64_t> kinds;
  std::optional<std::uint64_t> producers;
  std::optional<std::uint64_t> waves;
  std::optional<double> largest;
  std::optional<double> idle_cost;  // % of a CPU
  std::optional<std::uint64_t> width;
  bool json = false;
  bool measure_missing = false;  // without asking
  MeasureOptions measure;  // how, and where to keep what was measured
};

using TextAnswer = std::optional<std::string> AdviseOptions::*;
using WholeAnswer = std::optional<std::uint64_t> AdviseOptions::*;
using NumberAnswer = std::optional<double> AdviseOptions::*;
using AdviseAnswer = std::variant<TextAnswer, WholeAnswer, NumberAnswer>;

// One question about the work: an option, and a line at a terminal.
struct AdviseQuestion {
  const char* flag;
  AdviseAnswer answer;
  const char* type;  // of the value, in the help; empty: as of all such values
  const char* help;
  const char* words;  // at a terminal
  const char* usual;  // taken on an empty line; empty: nothing is said then
  unsigned units;     // that it is asked of at a terminal: a bit each, in the order of --unit
};
[[nodiscard]] const std::vector<AdviseQuestion>& advise_questions();  // advise_questions.cpp

struct TryOptions {
  std::filesystem::path kernel;  // a shared object
  std::filesystem::path create;  // instead: the folder of a new project
  std::optional<std::uint64_t> width;
  std::optional<std::uint64_t> block;
  std::vector<std::string> contenders;  // patterns; none: all
  double limit_s = 10;  // that a way may be silent
  bool races = false;  // instead of timing it: it is built with ThreadSanitizer
  bool json = false;
  MeasureOptions measure;
};

struct ReplayOptions {
  std::filesystem::path file;  // a trace
  std::filesystem::path from_ninja;  // or a folder that ninja builds in; one of the two is empty
  std::string arrivals;  // kept, at-once; empty: as fits the trace
  std::optional<double> speed;  // how many times as fast; nothing: as is usual
  std::optional<std::size_t> width;  // threads; nothing: as many as CPUs
  std::vector<std::string> contenders;  // patterns; none: all
  bool json = false;
  MeasureOptions measure;
};

struct TraceOptions {
  std::string what;  // a file, or a scenario
  std::string contender;  // of the scenario, as are the next three; empty: the first own.*
  std::vector<std::string> settings;
  std::string metric;
  std::filesystem::path output;  // keep its trace; empty: do not
  std::filesystem::path flame;  // these two: a picture; empty: none
  std::filesystem::path off_cpu;
  bool json = false;
  std::vector<std::filesystem::path> manifests;
};

struct ScaleOptions {
  std::filesystem::path measured;  // a result file with the rows; empty: none
  ScaleSetup setup;                // `block` 0: the one to take
  std::filesystem::path output;    // empty: no result file
  std::vector<std::string> command_line;
};

struct CheckAdviceOptions {
  std::filesystem::path known;  // rows that advice may see
  std::vector<std::filesystem::path> unseen;  // loads that it is tried on
  bool verbose = false;
};

// What a command's exit code says.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int broken = 1;  // a contender gave a wrong answer or broke
inline constexpr int bad_usage = 2;
inline constexpr int falls_short = 3;  // a figure that must hold; a change for the worse
inline constexpr int too_noisy = 4;
inline constexpr int signal = 128;  // plus the signal's number
}  // namespace exit_code

}  // namespace handoff::lab
