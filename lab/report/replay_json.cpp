// SPDX-License-Identifier: MIT
// The report on a replay as JSON. What is not known is null.
#include <nlohmann/json.hpp>

#include "report/replay_report.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

json way_json(const ReplayedWay& way) {
  return {{"name", way.name},
          {"state", way.state.empty() ? "ok" : way.state},
          {"makespan_ns", way.makespan_ns},
          {"makespan_low_ns", way.low_ns},
          {"makespan_high_ns", way.high_ns},
          {"of_bound", way.of_bound},
          {"of_list_schedule", way.of_list},
          {"latency_p50_ns", way.p50_ns},
          {"latency_p99_ns", way.p99_ns},
          {"latency_max_ns", way.max_ns},
          {"cpu_ns", way.cpu_ns},
          {"memory_bytes", way.memory_bytes}};
}

}  // namespace

std::string to_json_text(const ReplayReport& report) {
  json ways = json::array();
  for (const ReplayedWay& way : report.ways) ways.push_back(way_json(way));
  const json trace{{"file", report.file},
                   {"form", report.form},
                   {"pieces", report.pieces},
                   {"left_out", report.left_out},
                   {"dependencies", report.dependencies},
                   {"work_ns", report.trace_work_ns},
                   {"longest_ns", report.longest_ns},
                   {"bytes", report.bytes}};
  const json bounds{{"lower_ns", report.bounds.lower_ns()},
                    {"critical_path_ns", report.bounds.critical_path_ns},
                    {"work_by_threads_ns", report.bounds.shared_work_ns},
                    {"list_schedule_ns", report.bounds.list_ns}};
  const json all{{"take", report.is_told() ? json(report.ways.front().name) : json()},
                 {"why", report.is_told() ? report.why : ""},
                 {"noise", report.noise},
                 {"trace", trace},
                 {"speed", report.speed},
                 {"width", report.width},
                 {"arrivals", report.keeps_arrivals ? "kept" : "at-once"},
                 {"bounds", bounds},
                 {"ways", ways},
                 {"notes", report.notes}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace handoff::lab
