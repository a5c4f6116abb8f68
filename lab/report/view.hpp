// SPDX-License-Identifier: MIT
// What tables, page, comparison and exports have in common: rows that belong together, machines,
// numbers as people read them. Views point into the results, which must outlive them.
#pragma once

#include "report/result.hpp"

namespace handoff::lab {

// The rows of one cell: the same work, by each contender.
struct CellView {
  std::string scenario;
  std::string parameters;
  std::string metric;
  std::string unit;
  bool higher_is_better = false;
  std::vector<const Row*> rows;  // measured ones best first, then the others
  // What the kernel's own threads took of the CPUs meanwhile, the most of its blocks; NaN: they did
  // not work for the contenders, or that is not known.
  double kernel_cpus = NAN;

  // The best row of all but limits, against which the others are set; null where nobody has one.
  [[nodiscard]] const Row* best() const;
  // How many times worse than the best: 1 for the best.
  [[nodiscard]] double times_best(const Row& row) const;
  [[nodiscard]] bool same_work(const CellView& other) const;
  // That in words; empty where it is not known.
  [[nodiscard]] std::string kernel_text() const;
};

std::vector<CellView> cells_of(const Results& results);

// Result files of one machine that do not repeat a row belong together.
struct MachineView {
  std::string name;  // AMD EPYC 9B45, 2 CPUs
  Results results;
};

std::vector<MachineView> machines_of(const Results& results);

// Of the thread that hands over, and of the others together: of a pool the workers. NaN: unknown.
struct ThreadsMs {
  double submitter = NAN;
  double others = NAN;
};

// One scheme of an article, and who runs it here. What is unknown is NaN.
struct ArticleLine {
  std::string scheme;
  std::string note;
  std::string contender;
  double article_ms;
  double article_speedup;  // against the article's first line
  double here_ms;
  double here_speedup;
  std::optional<bool> reproduced;  // nothing for the first line and for what was not measured
  std::string why;  // why not, or why that cannot be told
  ThreadsMs on_cpu_ms;  // here, while it took here_ms
  ThreadsMs off_cpu_ms;
};

struct ArticleView {
  std::string scenario;
  std::string title;
  std::string parameters;
  std::vector<ArticleLine> lines;
};

// An article's speed-up counts as reproduced when the one here is at most this many times apart.
inline constexpr double reproduced_within = 1.2;

// Only articles whose cell was measured.
std::vector<ArticleView> articles_of(const Results& results);

// The same article on many machines: the medians, and on how many it was reproduced.
ArticleView together(const std::vector<ArticleView>& views);

// "base", "reproduced", "not reproduced: ..." or why that cannot be told.
std::string said_of(const ArticleLine& line);

// Whether it is known where the threads' time went.
bool tells_threads(const ArticleView& article);
// A figure as it is read, and by what it sorts.
struct ShownFigure {
  std::string text;
  double value = NAN;
};
// In ms the article's time, its speed-up, both here, and where it is known, on CPU and off CPU.
std::vector<ShownFigure> figures_of(const ArticleLine& line, bool threads);
// Its median, 99 % interval and how many times the best it is.
std::vector<ShownFigure> figures_of(const CellView& cell, const Row& row);

// What tables show beside the metric, where a row of the cell knows it.
struct FigureColumn {
  std::string title;
  double (*value)(const Row& row);
  std::string (*text)(double value);

  [[nodiscard]] bool is_known(const std::vector<const Row*>& rows) const;
};
const std::vector<FigureColumn>& figure_columns();

// Three significant digits, without an exponent (1.23 M); a dash for NaN.
std::string short_number(double value);
// With the unit that fits: 35.1 ns, 1.24 ms.
std::string duration_text(double ns, std::string (*text_of)(double));
std::string short_duration(double ns);
std::string round_duration(double ns);  // all digits that it has: 100 ns, 20 us
// "27.1 .. 29.3"; "not stable" where its ends are so far apart that they say nothing else.
std::string interval_text(double low, double high, std::string (*text_of)(double) = short_number);
// In bytes, KiB, MiB or GiB.
std::string size_text(double bytes);

}  // namespace handoff::lab
