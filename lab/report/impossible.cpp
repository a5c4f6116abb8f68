// SPDX-License-Identifier: MIT
// Figures that cannot be: the threads have done more than so many can.
#include "report/result.hpp"

#include <array>
#include <tuple>

#include <fmt/format.h>

#include "report/efficiency_curve.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

using CellOfRow = std::tuple<std::string, std::string, ParameterValues>;

CellOfRow cell_of(const Row& row) { return {row.scenario, row.metric, row.parameters}; }

bool is_serial(const Row& row) {
  return row.contender == "limit.serial" || row.contender == "own.serial";
}

bool tells_a_time(const Row& row) {
  return row.unit == "ns" || row.unit == "us" || row.unit == "ms";
}

std::string fault_of_curve(const Row& row) {
  const auto curve = row.curves.find("efficiency");
  if (curve == row.curves.end()) return {};
  const auto point = EfficiencyCurve(curve->second).impossible_point();
  if (!point) return {};
  return fmt::format("its efficiency is {:.2f} at {}", point->second, short_duration(point->first));
}

// Of a single launch nobody knows the range.
std::string fault_beside(const Row& serial, const Row& row) {
  const double width = value_named(row.parameters, "width").number();
  if (!(row.high * width < serial.low)) return {};
  return fmt::format("it is {:.2f} times as fast as one thread", serial.median / row.median);
}

void take_figures(Row& row, const std::string& fault) {
  Row marked;
  marked.scenario = row.scenario;
  marked.contender = row.contender;
  marked.kind = row.kind;
  marked.order = row.order;
  marked.parameters = row.parameters;
  marked.metric = row.metric;
  marked.unit = row.unit;
  marked.higher_is_better = row.higher_is_better;
  marked.block = row.block;
  marked.status = RowStatus::impossible;
  marked.reason = fault + ", more than the CPUs can do";
  row = std::move(marked);
}

}  // namespace

void mark_impossible(std::span<Row> rows) {
  std::map<CellOfRow, const Row*> serial;
  for (const Row& row : rows) {
    if (is_serial(row) && row.is_measured() && tells_a_time(row)) serial[cell_of(row)] = &row;
  }
  for (Row& row : rows) {
    std::string fault = fault_of_curve(row);
    const auto alone = serial.find(cell_of(row));
    if (fault.empty() && alone != serial.end()) fault = fault_beside(*alone->second, row);
    if (!fault.empty()) take_figures(row, fault);
  }
}

}  // namespace handoff::lab
