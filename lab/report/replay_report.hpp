// SPDX-License-Identifier: MIT
// What `handoff replay` says of a trace: which way to take, what every other one takes, and what no
// way can be faster than.
#pragma once

#include "replay/load.hpp"
#include "report/result.hpp"

namespace handoff::lab {

struct ReplayedWay {
  std::string name;  // a contender, or `here`
  std::string state;  // why it has no figures, or why they are doubtful; empty: all is well
  double makespan_ns = NAN;
  double low_ns = NAN;  // of its 99 % interval; NaN: a single launch has none
  double high_ns = NAN;
  double of_bound = NAN;
  double of_list = NAN;
  double p50_ns = NAN;  // latencies, from the intended arrival to the end of the piece
  double p99_ns = NAN;
  double max_ns = NAN;
  double cpu_ns = NAN;  // of all threads, in one replay
  double memory_bytes = NAN;  // the most its process had

  [[nodiscard]] bool is_measured() const { return makespan_ns > 0; }
};

struct ReplayReport {
  std::string file;
  std::string form;
  std::size_t pieces = 0;
  std::size_t left_out = 0;
  std::size_t dependencies = 0;
  double trace_work_ns = 0;  // as the trace has it
  double longest_ns = 0;
  double bytes = 0;
  double speed = 1;
  std::size_t width = 0;
  bool keeps_arrivals = true;
  replay::Bounds bounds;
  std::vector<std::string> notes;
  std::vector<ReplayedWay> ways;  // the one to take first, then by makespan; at last those without
  std::string why;  // to take the first one
  std::string noise;  // why it cannot be told that it is the one to take; empty: it can

  [[nodiscard]] bool is_told() const { return !why.empty() && noise.empty(); }
};

// Ways that are so near to each other are equal: in the makespan, and then in the latency.
inline constexpr double equal_makespans = 1.02;
inline constexpr double equal_latencies = 1.05;
// A makespan whose 99 % interval is wider would be another one next time: nothing is concluded.
inline constexpr double widest_interval = 1.05;

// A single launch has no interval (NaN), and is taken for what it is.
[[nodiscard]] inline bool is_steady(double low, double high) {
  return !(high > widest_interval * low);
}

// `trace` and `load` belong together; the rows are those of the replays.
ReplayReport replay_report(const std::string& file, const replay::Trace& trace,
                           const replay::Load& load, const replay::LoadChoice& choice,
                           const std::vector<Row>& rows);

std::string replay_text(const ReplayReport& report);
std::string to_json_text(const ReplayReport& report);

}  // namespace handoff::lab
