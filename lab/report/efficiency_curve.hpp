// SPDX-License-Identifier: MIT
// Efficiency against the size of a piece, as one sweep measured it: useful work over what the
// threads could have done meanwhile.
#pragma once

#include "report/row.hpp"

namespace handoff::lab {

class EfficiencyCurve {
 public:
  EfficiencyCurve() = default;
  explicit EfficiencyCurve(const Points& points);  // sizes in ns

  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] std::size_t sizes() const { return points_.size(); }
  [[nodiscard]] bool spans(double size_ns) const;
  // What a piece takes, of many that so many threads share out. Between two sizes the efficiency
  // follows the logarithm. Beyond the ends, small pieces take no less than the smallest one, and
  // large ones are done as well as the largest one.
  [[nodiscard]] double ns_of(double size_ns, double width) const;
  // How far off that may be, relative, at 99 %: the sizes next to it are so far off the line
  // between their own neighbours. NaN: too few sizes tell.
  [[nodiscard]] double error_at(double size_ns) const;
  // A point above 1 by more than such distances on the whole curve allow.
  [[nodiscard]] std::optional<std::pair<double, double>> impossible_point() const;

 private:
  struct Distance {
    double log_size;
    double log_ratio;  // from the line between its neighbours
  };

  Points points_;  // logarithm of the size, efficiency; sorted
  std::vector<Distance> distances_;
};

}  // namespace handoff::lab
