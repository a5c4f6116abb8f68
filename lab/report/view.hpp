// SPDX-License-Identifier: MIT
// What tables and the page have in common: rows of a result file that belong together, best first.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace handoff::lab {

// The rows of one cell. They point into the result file, which must outlive them.
struct CellView {
  std::string scenario;
  std::string parameters;  // n=512 width=2 kernel=ikj
  std::string metric;
  std::string unit;
  bool higher_is_better;
  std::vector<const nlohmann::json*> rows;  // measured ones best first, then the others

  // The best median of all but limits, against which the others are set; 0 where nobody has one.
  [[nodiscard]] double best() const;
  // How many times worse than the best: 1 for the best.
  [[nodiscard]] double times_best(const nlohmann::json& row) const;
};

std::vector<CellView> cells_of(const nlohmann::json& result);

// One scheme of an article, and who runs it here. What is unknown is NaN.
struct ArticleLine {
  std::string scheme;
  std::string note;
  std::string contender;
  double article_ms;
  double article_speedup;  // against the article's first line
  double here_ms;
  double here_speedup;
};

struct ArticleView {
  std::string title;
  std::string parameters;
  std::vector<ArticleLine> lines;
};

// Only articles whose cell was measured.
std::vector<ArticleView> articles_of(const nlohmann::json& result);

// Three significant digits, without an exponent; a dash for NaN.
std::string short_number(double value);

}  // namespace handoff::lab
