// SPDX-License-Identifier: MIT
// The row of a measurement: here, and nowhere else, its medians and intervals are computed.
#include "harness/counters.hpp"
#include "harness/histogram.hpp"
#include "report/result.hpp"

namespace handoff::lab {
namespace {

double median_or_nan(std::vector<double> values) {
  return values.empty() ? NAN : median(std::move(values));
}

// The median over the bursts that have it.
template <class Value>
double median_of(const Measurement& measurement, Value value) {
  std::vector<double> values;
  for (const auto& bursts : measurement.launches) {
    for (const Reading& reading : bursts) {
      if (const std::optional<double> found = value(reading)) values.push_back(*found);
    }
  }
  return median_or_nan(std::move(values));
}

std::optional<double> value_in(const std::map<std::string, double>& values, const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

// What was used in a burst, for an item of it.
double usage_of(const Measurement& measurement, const char* name) {
  return median_of(measurement, [name](const Reading& reading) -> std::optional<double> {
    const auto used = value_in(reading.usage, name);
    return used ? std::optional(*used / reading.items) : std::nullopt;
  });
}

PerItem per_item_of(const Measurement& measurement) {
  PerItem each;
  for_each_usage(each,
                 [&](const char* name, double& figure) { figure = usage_of(measurement, name); });
  for (const CounterKind& kind : counter_kinds) {
    each.counters[kind.name] = median_of(
        measurement, [&](const Reading& reading) { return value_in(reading.counts, kind.name); });
  }
  return each;
}

double median_of_launches(const Measurement& measurement, double Phases::* value) {
  std::vector<double> values;
  for (const Phases& phases : measurement.phases) values.push_back(phases.*value);
  return median_or_nan(std::move(values));
}

// The percentiles of all bursts together, nearer to each other towards the end.
std::optional<Latency> latency_of(const Measurement& measurement) {
  const auto all = std::make_unique<Histogram>();
  for (const auto& bursts : measurement.launches) {
    for (const Reading& reading : bursts) {
      for (const auto& [ns, times] : reading.latencies) {
        all->record(static_cast<std::uint64_t>(ns), static_cast<std::uint64_t>(times));
      }
    }
  }
  if (all->count() == 0) return {};
  Latency latency{all->count(), {}};
  for (const double percent : {0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9,
                               99.99, 99.999, 100.0}) {
    latency.percentiles.emplace_back(percent, static_cast<double>(all->percentile(percent)));
  }
  return latency;
}

// What each member did of all the items, the submitter first.
std::vector<double> shares_of(const Measurement& measurement) {
  std::vector<std::vector<double>> shares;  // member by member
  for (const auto& bursts : measurement.launches) {
    for (const Reading& reading : bursts) {
      const double all = std::accumulate(reading.executed.begin(), reading.executed.end(), 0.0);
      if (!(all > 0)) continue;
      if (shares.size() < reading.executed.size()) shares.resize(reading.executed.size());
      for (std::size_t i = 0; i < reading.executed.size(); ++i) {
        shares[i].push_back(reading.executed[i] / all);
      }
    }
  }
  std::vector<double> medians;
  for (auto& values : shares) medians.push_back(median(std::move(values)));
  return medians;
}

// Figures by their median over all bursts that have them, curves from the last burst.
void add_what_was_reported(const Measurement& measurement, Row& row) {
  std::map<std::string, std::vector<double>> figures;
  for (const auto& bursts : measurement.launches) {
    for (const Reading& reading : bursts) {
      for (const auto& [name, value] : reading.figures) figures[name].push_back(value);
      for (const auto& [name, points] : reading.curves) row.curves[name] = points;
    }
  }
  for (auto& [name, values] : figures) row.figures[name] = median(std::move(values));
}

void add_metric(const Measurement& measurement, std::uint64_t seed, Row& row) {
  row.launches = metric_of(measurement);
  row.median = typical(row.launches);
  if (row.launches.size() > 1) {  // of a single one nobody knows what another would say
    const Interval bounds = interval(resample(row.launches, seed));
    row.low = bounds.low;
    row.high = bounds.high;
  }
  const auto per_operation = [&](double Reading::* figure) {
    return typical(values_of(
        measurement, [&](const Reading& reading) { return reading.*figure / reading.operations; }));
  };
  row.wall_ns_per_op = per_operation(&Reading::wall_ns);
  row.cpu_ns_per_op = per_operation(&Reading::cpu_ns);
  row.items_per_op = per_operation(&Reading::items);
}

}  // namespace

ParameterValues parameters_of(const Scenario& scenario, const Cell& cell) {
  ParameterValues values;
  for (const auto& [name, value] : cell) {
    const bool number = scenario.parameter(name).is_number();
    values[name] = number ? ParameterValue::of(cell.number(name)) : ParameterValue{value};
  }
  return values;
}

Row finished_row(const Scenario& scenario, const Measurement& measurement, std::uint64_t seed) {
  const Metric& metric = scenario.metric(measurement.cell.metric());
  Row row;
  row.scenario = scenario.name();
  row.contender = measurement.contender.name;
  row.kind = measurement.contender.kind();
  row.order = measurement.contender.order;
  row.parameters = parameters_of(scenario, measurement.cell);
  row.metric = metric.name;
  row.unit = metric.unit;
  row.higher_is_better = metric.higher_is_better;
  row.status = measurement.status;
  row.reason = measurement.reason;
  if (!measurement.launches.empty()) add_metric(measurement, seed, row);
  add_what_was_reported(measurement, row);
  row.share_elsewhere = median_of(measurement, std::mem_fn(&Reading::share_elsewhere));
  row.shares = shares_of(measurement);
  row.latency = latency_of(measurement);
  row.start_ns = median_of_launches(measurement, &Phases::start_ns);
  row.stop_ns = median_of_launches(measurement, &Phases::stop_ns);
  row.peak_memory_bytes = median_of_launches(measurement, &Phases::peak_memory_bytes);
  row.per_item = per_item_of(measurement);
  row.layouts = measurement.layouts;
  return row;
}

}  // namespace handoff::lab
