// SPDX-License-Identifier: MIT
// A row of a result: one contender in one cell, and all that is known of it. A row is made once,
// from a measurement (finished_row.cpp) or from a file (read_result.cpp), with all its statistics;
// tables, page, comparison, advice and exports only look at it. A figure that is not known is NaN.
#pragma once

#include "harness/layout.hpp"
#include "harness/row_status.hpp"
#include "harness/statistics.hpp"
#include "report/per_item.hpp"

namespace handoff::lab {

// The value of a parameter: a text, or a number with the digits that it was written with.
struct ParameterValue {
  std::string text;
  bool is_number = false;

  static ParameterValue of(std::uint64_t number) { return {std::to_string(number), true}; }
  [[nodiscard]] double number() const;                        // NaN of a text
  [[nodiscard]] std::optional<std::uint64_t> whole() const;  // nothing if it is no whole number
  friend bool operator==(const ParameterValue&, const ParameterValue&) = default;
  friend auto operator<=>(const ParameterValue&, const ParameterValue&) = default;
};

using ParameterValues = std::map<std::string, ParameterValue>;
using Points = std::vector<std::pair<double, double>>;

// Of single items, over all bursts.
struct Latency {
  std::uint64_t count = 0;
  Points percentiles;  // percent, ns
};

struct Row {
  std::string scenario;
  std::string contender;
  std::string kind;   // own, seed, peer, limit
  std::string order;  // in which a queue gives items back: fifo, per producer, none; or empty
  ParameterValues parameters;
  std::string metric;
  std::string unit;
  bool higher_is_better = false;
  std::optional<std::int64_t> block;  // rows of one block ran in the same rounds

  RowStatus status = RowStatus::ok;
  std::string reason;  // empty: all is well

  Launches launches;  // of the metric; empty: not measured
  double median = NAN;
  double low = NAN;  // of its 99 % interval; a single launch has none
  double high = NAN;
  double wall_ns_per_op = NAN;
  double cpu_ns_per_op = NAN;
  double items_per_op = NAN;
  double share_elsewhere = NAN;  // of the items, done by another thread than the submitter
  std::vector<double> shares;    // of the items, by each member, the submitter first
  Figures figures;               // what the contender reported beside the metric
  std::map<std::string, Points> curves;
  std::optional<Latency> latency;

  double start_ns = NAN;  // to prepare
  double stop_ns = NAN;   // to give all of it back
  double peak_memory_bytes = NAN;
  PerItem per_item;
  std::vector<Layout> layouts;  // launch by launch

  [[nodiscard]] bool is_measured() const { return !std::isnan(median); }
  [[nodiscard]] bool is_limit() const { return kind == "limit"; }
  // A figure of an operation for each of the items that it did.
  [[nodiscard]] double per_item_of(double figure) const {
    return figure / (items_per_op > 0 ? items_per_op : 1);
  }
  // "wrong: the answer was left untouched"
  [[nodiscard]] std::string state() const;
};

// visit(name, field) for what files have under a name of its own.
template <class RowOrConst, class Visit>
void for_each_text(RowOrConst& row, Visit visit) {
  visit("scenario", row.scenario);
  visit("contender", row.contender);
  visit("kind", row.kind);
  visit("metric", row.metric);
  visit("unit", row.unit);
}
template <class RowOrConst, class Visit>
void for_each_figure(RowOrConst& row, Visit visit) {
  visit("median", row.median);
  visit("low", row.low);
  visit("high", row.high);
  visit("wall_ns_per_op", row.wall_ns_per_op);
  visit("cpu_ns_per_op", row.cpu_ns_per_op);
  visit("items_per_op", row.items_per_op);
  visit("share_elsewhere", row.share_elsewhere);
  visit("peak_memory_bytes", row.peak_memory_bytes);
}

// n=512 width=2 kernel=ikj
std::string text_of(const ParameterValues& parameters);

// A value without text, or NaN, where there is none of that name.
ParameterValue value_named(const ParameterValues& parameters, const std::string& name);
double figure_named(const Figures& figures, const std::string& name);

}  // namespace handoff::lab
