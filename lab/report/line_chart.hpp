// SPDX-License-Identifier: MIT
// A chart of lines as SVG text: how a figure moves with a parameter, percentiles, efficiency
// against the size of a task. It is drawn in 360 units of width, a phone's, so that its text stays
// readable there.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

enum class Scale {
  linear,  // from 0
  log,
  nines,  // percentiles: 90, 99, 99.9 are as far apart from each other
};

struct Line {
  std::string name;
  int style = 0;  // colour and marker: the same contender looks the same in all charts
  std::vector<std::pair<double, double>> points;
  double reaches = NAN;  // the chart's level, at this x
};

struct LineChart {
  std::string x_label;
  std::string y_label;
  Scale x = Scale::linear;
  Scale y = Scale::linear;
  std::vector<Line> lines;
  Line perfect;  // dashed; without points: none
  double level = NAN;  // a y with a line of its own, on which is marked where the others reach it
};

inline constexpr int line_styles = 8;

// Sorted by x, without what a scale cannot show (a log of 0); lines without points are dropped.
LineChart cleaned(LineChart chart);

// `description` is for those who cannot see it.
std::string svg_of(const LineChart& chart, const std::string& description);

// The marker of a style alone, for a legend.
std::string legend_mark(int style);

std::string html_escaped(const std::string& text);

// Round numbers for the axes of charts.
// The smallest of 1, 2, 5 times a power of ten that makes at most six steps up to `highest`.
inline double tick_step(double highest) {
  if (!(highest > 0)) return 1;
  const double magnitude = std::pow(10, std::floor(std::log10(highest)) - 1);
  for (const double factor : {1, 2, 5, 10, 20}) {
    if (highest / (factor * magnitude) <= 6) return factor * magnitude;
  }
  return 50 * magnitude;
}

}  // namespace handoff::lab
