// SPDX-License-Identifier: MIT
// What a contender reports for one burst, and how its line is read. docs/design/lab-protocol.md
// has the line's form.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Of a figure that a contender or a file says: 0, or 1e-30 to 1e30 on either side of it. Squares
// and quotients of two such numbers are numbers as well.
bool can_be_measured(double figure) noexcept;

// An operation does one item of work unless it says otherwise.
struct Reading {
  double wall_ns = 0;
  double cpu_ns = 0;  // of all threads of its process
  double operations = 0;
  double items = 0;
  std::vector<double> executed;  // items by each member, the submitter first; empty: not said
  std::map<std::string, double> figures;
  std::map<std::string, std::vector<std::pair<double, double>>> curves;
  std::vector<std::pair<double, double>> latencies;  // ns, and how many items took it
  std::map<std::string, double> usage;   // in the burst, such as context switches
  std::map<std::string, double> counts;  // for an item, such as cycles; only what can be counted

  [[nodiscard]] double ns_per_item() const { return wall_ns / items; }
  [[nodiscard]] double figure(const std::string& name) const;  // NaN if it was not reported
  // The share of the items that another thread or process than the submitter executed.
  [[nodiscard]] std::optional<double> share_elsewhere() const;
};

// Nothing if the line is not what a contender answers to a burst.
std::optional<Reading> read_reading(const std::string& line);

}  // namespace handoff::lab
