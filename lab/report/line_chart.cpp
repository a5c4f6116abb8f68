// SPDX-License-Identifier: MIT
#include "report/line_chart.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

// In units of the chart's own coordinates.
constexpr double chart_width = 360;
constexpr double chart_height = 240;
constexpr double left = 48;
constexpr double right = 20;
constexpr double top = 10;
constexpr double bottom = 40;

// Where a value lies on its scale; equal steps of this are equal lengths on the paper.
double position(Scale scale, double value) {
  switch (scale) {
    case Scale::linear: return value;
    case Scale::log: return std::log10(value);
    case Scale::nines: break;
  }
  return -std::log10(1 - value / 100);
}

bool can_show(Scale scale, double value) {
  return std::isfinite(value) && (scale != Scale::log || value > 0) &&
         (scale != Scale::nines || (value >= 0 && value < 100));
}

class Axis {
 public:
  Axis(Scale scale, const std::vector<double>& values, double from, double to)
      : scale_(scale), from_(from), to_(to) {
    const auto [least, most] = std::ranges::minmax_element(values);
    low_ = position(scale, *least);
    high_ = position(scale, *most);
    if (scale == Scale::linear) {
      low_ = std::min(0.0, low_);
      high_ = std::ceil(high_ / tick_step(high_)) * tick_step(high_);
    }
    if (high_ <= low_) high_ = low_ + 1;
    choose_ticks(values, *least, *most);
  }

  [[nodiscard]] double at(double value) const {
    return from_ + (position(scale_, value) - low_) / (high_ - low_) * (to_ - from_);
  }
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  void choose_ticks(const std::vector<double>& values, double least, double most) {
    constexpr std::size_t most_ticks = 7;
    const std::set<double> distinct(values.begin(), values.end());
    if (scale_ == Scale::nines) {
      for (const double tick : {0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999}) {
        const double where = position(scale_, tick);
        if (where >= low_ - 1e-9 && where <= high_ + 1e-9) ticks_.push_back(tick);
      }
    } else if (scale_ == Scale::log && distinct.size() <= most_ticks) {
      ticks_.assign(distinct.begin(), distinct.end());
    } else if (scale_ == Scale::log) {
      choose_log_ticks(least, most);
    } else {
      for (double tick = 0; tick <= high_ * (1 + 1e-9); tick += tick_step(most)) {
        ticks_.push_back(tick);
      }
    }
  }

  // Powers of ten; where they are few also 2 and 5 times them.
  void choose_log_ticks(double least, double most) {
    constexpr double most_decades = 7;
    const double decades = high_ - low_;
    const int step = std::max(1, static_cast<int>(std::ceil(decades / most_decades)));
    for (int e = static_cast<int>(std::floor(low_)); e <= high_; e += step) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor > 1 && decades > 2) continue;
        const double tick = factor * std::pow(10, e);
        if (tick >= least * (1 - 1e-9) && tick <= most * (1 + 1e-9)) ticks_.push_back(tick);
      }
    }
    if (ticks_.size() < 2) ticks_ = {least, most};
  }

  Scale scale_;
  double from_;
  double to_;
  double low_ = 0;
  double high_ = 1;
  std::vector<double> ticks_;
};

std::vector<double> all_values(const LineChart& chart, bool x) {
  std::vector<double> values;
  const auto add = [&](const Line& line) {
    for (const auto& point : line.points) values.push_back(x ? point.first : point.second);
  };
  for (const Line& line : chart.lines) add(line);
  add(chart.perfect);
  return values;
}

std::string tick_text(double value) {
  if (value >= 1e6) return short_number(value);
  return value >= 1e4 ? fmt::format("{:.4g} k", value / 1e3) : fmt::format("{:.4g}", value);
}

// Four shapes in turn, so that lines differ by more than their colour.
std::string marker(int style, double x, double y) {
  switch (style % 4) {
    case 0: return fmt::format("M{:.1f} {:.1f}a3 3 0 1 0 6 0a3 3 0 1 0-6 0", x - 3, y);
    case 1: return fmt::format("M{:.1f} {:.1f}h6v6h-6z", x - 3, y - 3);
    case 2: return fmt::format("M{:.1f} {:.1f}l4 7h-8z", x, y - 4.5);
    default: return fmt::format("M{:.1f} {:.1f}l4 4-4 4-4-4z", x, y - 4);
  }
}

std::string path_through(const Line& line, const Axis& x, const Axis& y) {
  std::string path;
  for (const auto& [px, py] : line.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x.at(px), y.at(py));
  }
  return path;
}

// Colours that come round again are dashed.
const char* again(int style) { return style < line_styles ? "" : " again"; }

// Where the lines reach the chart's level.
std::string level_of(const LineChart& chart, const Axis& x, const Axis& y) {
  if (std::isnan(chart.level)) return "";
  const double height_there = y.at(chart.level);
  std::string text = fmt::format("<path class=\"level\" d=\"M{} {:.1f}H{}\"/>\n", left,
                                 height_there, chart_width - right);
  for (const Line& line : chart.lines) {
    if (!can_show(chart.x, line.reaches)) continue;
    const double at = x.at(line.reaches);
    if (at < left || at > chart_width - right) continue;
    text += fmt::format(
        "<g class=\"s{}\"><title>{}</title><path class=\"reaches\" d=\""
        "M{:.1f} {:.1f}a5 5 0 1 0 10 0a5 5 0 1 0-10 0\"/></g>\n",
        line.style % line_styles, html_escaped(line.name), at - 5, height_there);
  }
  return text;
}

std::string drawn(const Line& line, const Axis& x, const Axis& y) {
  constexpr std::size_t most_markers = 12;
  std::string text =
      fmt::format("<g class=\"s{}{}\"><title>{}</title><path class=\"line\" d=\"{}\"/>",
                  line.style % line_styles, again(line.style), html_escaped(line.name),
                  path_through(line, x, y));
  std::string markers;
  const std::size_t step = line.points.size() > most_markers ? line.points.size() - 1 : 1;
  for (std::size_t i = 0; i < line.points.size(); i += std::max<std::size_t>(step, 1)) {
    markers += marker(line.style, x.at(line.points[i].first), y.at(line.points[i].second));
  }
  return text + fmt::format("<path class=\"mark\" d=\"{}\"/></g>\n", markers);
}

std::string axes(const LineChart& chart, const Axis& x, const Axis& y) {
  std::string text;
  for (const double tick : y.ticks()) {
    text += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", left, y.at(tick),
                        chart_width - right);
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"end\">{}</text>\n", left - 6,
                        y.at(tick) + 4, tick_text(tick));
  }
  double last = -std::numeric_limits<double>::infinity();
  for (const double tick : x.ticks()) {
    const double at = x.at(tick);
    if (at - last < 26) continue;  // two numbers would touch
    last = at;
    text +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>", at, top, chart_height - bottom);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"middle\">{}</text>\n", at,
                        chart_height - bottom + 15, tick_text(tick));
  }
  text +=
      fmt::format("<text x=\"{}\" y=\"{}\" class=\"middle\">{}</text>\n",
                  (left + chart_width - right) / 2, chart_height - 8, html_escaped(chart.x_label));
  return text;
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

LineChart cleaned(LineChart chart) {
  const auto clean = [&](Line& line) {
    std::erase_if(line.points, [&](const auto& point) {
      return !can_show(chart.x, point.first) || !can_show(chart.y, point.second);
    });
    std::ranges::sort(line.points);
  };
  std::ranges::for_each(chart.lines, clean);
  clean(chart.perfect);
  std::erase_if(chart.lines, [](const Line& line) { return line.points.empty(); });
  return chart;
}

std::string svg_of(const LineChart& chart, const std::string& description) {
  const Axis x(chart.x, all_values(chart, true), left, chart_width - right);
  const Axis y(chart.y, all_values(chart, false), chart_height - bottom, top);
  std::string text = fmt::format(
      "<svg class=\"lines\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">\n",
      chart_width, chart_height, html_escaped(description));
  text += axes(chart, x, y);
  if (!chart.perfect.points.empty()) {
    text += fmt::format("<path class=\"perfect\" d=\"{}\"/>\n", path_through(chart.perfect, x, y));
  }
  for (const Line& line : chart.lines) text += drawn(line, x, y);
  return text + level_of(chart, x, y) + "</svg>";
}

std::string legend_mark(int style) {
  return fmt::format(
      "<svg class=\"key s{}{}\" viewBox=\"0 0 24 12\" aria-hidden=\"true\">"
      "<path class=\"line\" d=\"M0 6H24\"/><path class=\"mark\" d=\"{}\"/></svg>",
      style % line_styles, again(style), marker(style, 12, 6));
}

}  // namespace handoff::lab
