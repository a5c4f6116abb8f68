// SPDX-License-Identifier: MIT
#include "report/replay_report.hpp"
#include "replay/trace_file.hpp"
#include "report/columns.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

constexpr const char* kHere = "here";

double percentile_of(const Row& row, double percent) {
  if (!row.latency) return NAN;
  for (const auto& [at, ns] : row.latency->percentiles) {
    if (at == percent) return ns;
  }
  return NAN;
}

ReplayedWay way_of(const Row& row, const replay::Bounds& bounds) {
  ReplayedWay way;
  way.name = row.contender == "limit.serial" ? kHere : row.contender;
  if (row.status != RowStatus::ok) way.state = row.state();
  if (!row.is_measured()) return way;
  constexpr double ms = 1e6;
  if (row.high * ms < static_cast<double>(bounds.lower_ns())) {
    way.state = "impossible: shorter than the bound, more than the CPUs can do";
    return way;
  }
  way.makespan_ns = row.median * ms;
  way.low_ns = row.low * ms;
  way.high_ns = row.high * ms;
  way.of_bound = way.makespan_ns / static_cast<double>(bounds.lower_ns());
  way.of_list = way.makespan_ns / static_cast<double>(bounds.list_ns);
  way.p50_ns = percentile_of(row, 50);
  way.p99_ns = percentile_of(row, 99);
  way.max_ns = percentile_of(row, 100);
  way.cpu_ns = row.cpu_ns_per_op;
  way.memory_bytes = row.peak_memory_bytes;
  if (way.state.empty() && !is_steady(way.low_ns, way.high_ns)) {
    way.state = fmt::format("noisy: its makespan is {}",
                            interval_text(way.low_ns, way.high_ns, short_duration));
  }
  return way;
}

// The first way is the one to take, if a second run would take it too.
std::string noise_of(const std::vector<ReplayedWay>& ways) {
  const ReplayedWay& best = ways.front();
  if (!best.is_measured()) return "";
  if (!best.state.empty()) return fmt::format("{} is {}", best.name, best.state);
  for (const ReplayedWay& way : ways) {
    if (!way.is_measured() || way.state.empty()) continue;
    if (is_steady(way.low_ns, way.high_ns) || way.low_ns * equal_makespans >= best.makespan_ns) {
      continue;
    }
    return fmt::format("{} may be faster than {}: it is {}", way.name, best.name, way.state);
  }
  return "";
}

using Ways = std::vector<ReplayedWay>::iterator;

// Of ways that are equally fast: a steady one before one whose makespan is noisy; then, where
// pieces arrive at their own times, the one that answers soonest; else the fastest.
Ways best_of(Ways begin, Ways end, bool keeps_arrivals) {
  return std::min_element(begin, end, [&](const ReplayedWay& a, const ReplayedWay& b) {
    if (a.state.empty() != b.state.empty()) return a.state.empty();
    return keeps_arrivals ? a.p99_ns < b.p99_ns : a.makespan_ns < b.makespan_ns;
  });
}

std::string why_of(Ways begin, Ways end, bool keeps_arrivals) {
  constexpr double percent = (equal_makespans - 1) * 100;
  if (end - begin == 1) {
    return fmt::format("no other way is within {:.0f} % of its makespan", percent);
  }
  const auto steady =
      std::count_if(begin, end, [](const ReplayedWay& way) { return way.state.empty(); });
  return fmt::format("{} ways are within {:.0f} % of the shortest makespan; of {} it has the {}",
                     end - begin, percent,
                     steady == 0 || steady == end - begin ? "those" : "the steady ones",
                     keeps_arrivals ? "least p99 of the latency" : "shortest");
}

// One of those that are as fast as the fastest. Before a way that is no better, the work stays
// where it is.
std::string choose(std::vector<ReplayedWay>& ways, bool keeps_arrivals) {
  const auto end =
      std::ranges::partition_point(ways, [](const ReplayedWay& way) { return way.is_measured(); });
  if (end == ways.begin()) return "";
  const double fastest = ways.front().makespan_ns;
  const auto slower = std::partition_point(ways.begin(), end, [&](const ReplayedWay& way) {
    return way.makespan_ns <= fastest * equal_makespans;
  });
  auto best = best_of(ways.begin(), slower, keeps_arrivals);
  std::string why = why_of(ways.begin(), slower, keeps_arrivals);
  const double most_p99 = best->p99_ns * equal_latencies;
  const bool is_known = best->state.empty();
  const auto stays = std::find_if(ways.begin(), slower, [&](const ReplayedWay& way) {
    return way.name == kHere && way.state.empty() == is_known && !(way.p99_ns > most_p99);
  });
  if (stays != slower && stays != best) {
    best = stays;
    why = "no way that hands pieces to other threads is faster";
  }
  std::rotate(ways.begin(), best, best + 1);
  return why;
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What was replayed, and how.
std::string load_text(const ReplayReport& report) {
  std::string text =
      fmt::format("{}: {}, {}, {}", report.file, report.form, plural(report.pieces, "piece"),
                  report.dependencies == 0 ? "no dependencies"
                                           : fmt::format("{} dependencies", report.dependencies));
  text += fmt::format("; {} of work, the longest piece {}\n", short_duration(report.trace_work_ns),
                      short_duration(report.longest_ns));
  if (report.left_out > 0) {
    text += fmt::format("only the first {} are replayed, {} more are left out\n",
                        plural(report.pieces, "piece"), report.left_out);
  }
  text += report.speed == 1
              ? std::string("replayed as fast as it was")
              : fmt::format(
                    "replayed {:.4g} times as fast: arrivals and work are shorter by that factor",
                    report.speed);
  text += fmt::format(", {} threads, {}\n", report.width,
                      report.keeps_arrivals ? "arrivals kept" : "all pieces ready at once");
  const replay::Bounds& bounds = report.bounds;
  const auto time = [](std::uint64_t ns) { return short_duration(static_cast<double>(ns)); };
  text += fmt::format(
      "bound {}: the longer of critical path {} and work / threads {}; list "
      "schedule {}\n",
      time(bounds.lower_ns()), time(bounds.critical_path_ns), time(bounds.shared_work_ns),
      time(bounds.list_ns));
  return text;
}

std::string table_text(const ReplayReport& report) {
  Columns columns;
  columns.add({"way", "makespan", "of bound", "of list", "p50", "p99", "max", "CPU", "memory"});
  std::string without;
  for (const ReplayedWay& way : report.ways) {
    if (!way.state.empty()) without += fmt::format("  {} is {}\n", way.name, way.state);
    if (!way.is_measured()) continue;
    columns.add({way.name, short_duration(way.makespan_ns), fmt::format("{:.2f}x", way.of_bound),
                 fmt::format("{:.2f}x", way.of_list), short_duration(way.p50_ns),
                 short_duration(way.p99_ns), short_duration(way.max_ns), short_duration(way.cpu_ns),
                 size_text(way.memory_bytes)});
  }
  return columns.text() + without;
}

}  // namespace

ReplayReport replay_report(const std::string& file, const replay::Trace& trace,
                           const replay::Load& load, const replay::LoadChoice& choice,
                           const std::vector<Row>& rows) {
  ReplayReport report;
  report.file = replay::shown(file);
  report.form = trace.form;
  report.pieces = trace.pieces.size();
  report.left_out = trace.left_out;
  report.dependencies = trace.edges.size();
  report.bytes = static_cast<double>(trace.bytes);
  for (const replay::Piece& piece : trace.pieces) {
    const auto ns = static_cast<double>(piece.duration_ns);
    report.trace_work_ns += ns;
    report.longest_ns = std::max(report.longest_ns, ns);
  }
  report.speed = load.speed();
  report.width = choice.width;
  report.keeps_arrivals = choice.keeps_arrivals;
  report.bounds = load.bounds();
  report.notes = trace.notes;
  for (const Row& row : rows) report.ways.push_back(way_of(row, report.bounds));
  std::ranges::stable_sort(report.ways, [](const ReplayedWay& a, const ReplayedWay& b) {
    if (a.is_measured() != b.is_measured()) return a.is_measured();
    return a.is_measured() && a.makespan_ns < b.makespan_ns;
  });
  report.why = choose(report.ways, report.keeps_arrivals);
  if (!report.why.empty()) report.noise = noise_of(report.ways);
  return report;
}

std::string replay_text(const ReplayReport& report) {
  std::string text;
  if (report.why.empty()) {
    text = "no way has figures\n";
  } else if (!report.noise.empty()) {
    text = fmt::format(
        "too noisy to tell: {}\n  stop other programs and try again, or use --time-budget 300\n",
        report.noise);
  } else {
    const ReplayedWay& best = report.ways.front();
    text = fmt::format("take {}: {}, {:.2f}x of the bound\n  {}\n", best.name,
                       short_duration(best.makespan_ns), best.of_bound, report.why);
  }
  text += '\n' + load_text(report) + '\n' + table_text(report);
  text += report.notes.empty() ? "" : "\n";
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace handoff::lab
