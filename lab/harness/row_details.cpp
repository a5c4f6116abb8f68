// SPDX-License-Identifier: MIT
#include "harness/row_details.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

#include "harness/counters.hpp"
#include "harness/histogram.hpp"
#include "harness/thread_times.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

json median_or_null(std::vector<double> values) {
  return values.empty() ? json() : json(median(std::move(values)));
}

// Of a map that each burst has, the values of one name; bursts without it are left out.
std::vector<double> values_named(const Row& row, const char* name,
                                 std::map<std::string, double> Reading::* values) {
  std::vector<double> found;
  for (const auto& bursts : row.launches) {
    for (const Reading& reading : bursts) {
      const auto entry = (reading.*values).find(name);
      if (entry == (reading.*values).end()) continue;
      const bool of_the_burst = values == &Reading::usage;
      found.push_back(of_the_burst ? entry->second / reading.items : entry->second);
    }
  }
  return found;
}

json for_an_item(const Row& row) {
  json figures = json::object();
  for (const char* name : {"voluntary_switches", "involuntary_switches"}) {
    figures[name] = median_or_null(values_named(row, name, &Reading::usage));
  }
  for (const auto& [on_cpu, ready, off_cpu] : thread_time_names) {
    for (const char* name : {on_cpu, ready, off_cpu}) {
      figures[name] = median_or_null(values_named(row, name, &Reading::usage));
    }
  }
  for (const CounterKind& kind : counter_kinds) {
    figures[kind.name] = median_or_null(values_named(row, kind.name, &Reading::counts));
  }
  return figures;
}

json median_of_launches(const Row& row, double Phases::* value) {
  std::vector<double> values;
  for (const Phases& phases : row.phases) values.push_back(phases.*value);
  return median_or_null(std::move(values));
}

// The percentiles of all bursts together, nearer to each other towards the end.
json latencies_of(const Row& row) {
  const auto all = std::make_unique<Histogram>();
  for (const auto& bursts : row.launches) {
    for (const Reading& reading : bursts) {
      for (const auto& [ns, times] : reading.latencies) {
        all->record(static_cast<std::uint64_t>(ns), static_cast<std::uint64_t>(times));
      }
    }
  }
  if (all->count() == 0) return {};
  json percentiles = json::array();
  for (const double percent : {0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9,
                               99.99, 99.999, 100.0}) {
    percentiles.push_back({percent, all->percentile(percent)});
  }
  return {{"count", all->count()}, {"unit", "ns"}, {"percentiles", percentiles}};
}

json layouts_of(const Row& row) {
  json layouts = json::array();
  for (const Layout& layout : row.layouts) {
    layouts.push_back({{"link", layout.link}, {"stack_shift", layout.stack_shift}});
  }
  return layouts;
}

}  // namespace

json details_of(const Row& row) {
  return {{"phases",
           {{"start_ns", median_of_launches(row, &Phases::start_ns)},
            {"stop_ns", median_of_launches(row, &Phases::stop_ns)}}},
          {"layouts", layouts_of(row)},
          {"peak_memory_bytes", median_of_launches(row, &Phases::peak_memory_bytes)},
          {"per_item", for_an_item(row)},
          {"latency", latencies_of(row)}};
}

}  // namespace handoff::lab
