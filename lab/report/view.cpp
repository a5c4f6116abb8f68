// SPDX-License-Identifier: MIT
#include "report/view.hpp"

namespace handoff::lab {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

CellView cell_of(const Row& row) {
  return {row.scenario, text_of(row.parameters), row.metric, row.unit, row.higher_is_better, {},
          NAN};
}

double kernel_cpus_beside(const Row& row, const Result& result) {
  if (!row.block || *row.block < 0) return unknown;
  const auto at = static_cast<std::size_t>(*row.block);
  if (at >= result.blocks.size()) return unknown;
  const std::optional<BlockReport>& block = result.blocks[at];
  return block ? block->seen.kernel_cpus.value_or(unknown) : unknown;
}

bool better_first(const CellView& cell, const Row* a, const Row* b) {
  const auto rank = [&](const Row* row) {
    const double key = !row->is_measured()     ? std::numeric_limits<double>::infinity()
                       : cell.higher_is_better ? -row->median
                                               : row->median;
    return std::pair(key, std::string_view(row->contender));
  };
  return rank(a) < rank(b);
}

std::set<std::string> row_names(const Result& result) {
  std::set<std::string> names;
  for (const Row& row : result.rows) {
    names.insert(fmt::format("{} {} {} {}", row.scenario, row.metric, text_of(row.parameters),
                             row.contender));
  }
  return names;
}

bool repeats_a_row(const MachineView& machine, const Result& result) {
  const std::set<std::string> names = row_names(result);
  return std::ranges::any_of(machine.results, [&](const Result* other) {
    const std::set<std::string> others = row_names(*other);
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return others.contains(name); });
  });
}

const Row* row_behind(const Results& results, const ArticleTable& article, const ArticleRow& line) {
  const std::string& metric = line.metric.empty() ? article.metric : line.metric;
  for (const Result* result : results) {
    for (const Row& row : result->rows) {
      const bool same_metric = metric.empty() || row.metric == metric;
      if (same_metric && row.scenario == article.scenario && row.contender == line.contender &&
          row.parameters == article.parameters) {
        return &row;
      }
    }
  }
  return nullptr;
}

// Items that the article's time is for, as one row counts them.
double items_of(const ArticleTable& article, const Row& here) {
  return std::isnan(article.items) ? here.items_per_op : article.items;
}

// What a row says in ms: a time, or its metric, where an article is about that.
double ms_of(const ArticleTable& article, const Row* here) {
  if (here == nullptr) return unknown;
  if (!std::isnan(article.metric_ms)) return here->median * article.metric_ms;
  const double operations = items_of(article, *here) / here->items_per_op;
  return here->wall_ns_per_op * (std::isnan(operations) ? 1 : operations) / 1e6;
}

// Where the threads' time went meanwhile.
void add_threads(ArticleLine& line, const ArticleTable& article, const Row& here) {
  if (!std::isnan(article.metric_ms)) return;
  const ThreadTime& submitter = here.per_item.submitter;
  const ThreadTime& others = here.per_item.others;
  const double ms = items_of(article, here) / 1e6;
  line.on_cpu_ms = {submitter.on_cpu_ns * ms, others.on_cpu_ns * ms};
  line.off_cpu_ms = {submitter.off_cpu_ns * ms, others.off_cpu_ns * ms};
}

ArticleLine line_of(const ArticleTable& article, const ArticleRow& line, const Row* here) {
  const double ms = ms_of(article, here);
  ArticleLine view{
      line.scheme, line.note, line.contender, line.milliseconds, unknown, ms, unknown, {}, "",
      {},          {}};
  if (here != nullptr) add_threads(view, article, *here);
  if (view.contender.empty()) {
    view.why = "no contender implements this scheme";
  } else if (here == nullptr) {
    view.why = "not measured in this run";
  } else if (std::isnan(ms)) {
    view.why = here->state();
  }
  return view;
}

void judge(ArticleLine& line, const ArticleLine& first, const std::string& why) {
  line.article_speedup = first.article_ms / line.article_ms;
  line.here_speedup = first.here_ms / line.here_ms;
  if (&line == &first || !line.why.empty()) return;
  if (std::isnan(line.here_speedup)) {
    line.why = "the first line, its base, was not measured";
    return;
  }
  const double apart = line.here_speedup / line.article_speedup;
  line.reproduced = std::max(apart, 1 / apart) <= reproduced_within;
  if (*line.reproduced) return;
  line.why = fmt::format("{} x there, {} x here", short_number(line.article_speedup),
                         short_number(line.here_speedup));
  if (!why.empty()) line.why += "; " + why;
}

}  // namespace

const Row* CellView::best() const {
  const auto found = std::ranges::find_if(
      rows, [](const Row* row) { return !row->is_limit() && row->is_measured(); });
  return found == rows.end() ? nullptr : *found;
}

double CellView::times_best(const Row& row) const {
  if (best() == nullptr) return unknown;
  const double least = best()->median;
  return higher_is_better ? least / row.median : row.median / least;
}

bool CellView::same_work(const CellView& other) const {
  return std::tie(scenario, metric, unit, parameters) ==
         std::tie(other.scenario, other.metric, other.unit, other.parameters);
}

std::string CellView::kernel_text() const {
  if (std::isnan(kernel_cpus)) return {};
  return fmt::format(
      "the kernel's own threads, which write back files, took {:.2f} CPUs meanwhile; that is not "
      "counted as other programs'",
      kernel_cpus);
}

std::vector<CellView> cells_of(const Results& results) {
  std::vector<CellView> cells;
  for (const Result* result : results) {
    for (const Row& row : result->rows) {
      CellView wanted = cell_of(row);
      auto cell = std::ranges::find_if(
          cells, [&](const CellView& other) { return other.same_work(wanted); });
      if (cell == cells.end()) cell = cells.insert(cells.end(), std::move(wanted));
      cell->rows.push_back(&row);
      cell->kernel_cpus = std::fmax(cell->kernel_cpus, kernel_cpus_beside(row, *result));
    }
  }
  for (CellView& cell : cells) {
    std::ranges::sort(cell.rows,
                      [&](const Row* a, const Row* b) { return better_first(cell, a, b); });
  }
  return cells;
}

std::vector<MachineView> machines_of(const Results& results) {
  std::vector<MachineView> machines;
  for (const Result* result : results) {
    const Environment& here = result->environment;
    const auto same = std::ranges::find_if(machines, [&](const MachineView& m) {
      return m.results.front()->environment.is_same_machine(here) && !repeats_a_row(m, *result);
    });
    if (same == machines.end()) {
      machines.push_back({here.machine(), {result}});
    } else {
      same->results.push_back(result);
    }
  }
  return machines;
}

std::vector<ArticleView> articles_of(const Results& results) {
  std::vector<ArticleView> views;
  for (const Result* result : results) {
    for (const ArticleTable& article : result->articles) {
      ArticleView view{article.scenario, article.title, text_of(article.parameters), {}};
      for (const ArticleRow& line : article.rows) {
        view.lines.push_back(line_of(article, line, row_behind(results, article, line)));
      }
      for (std::size_t i = 0; i < view.lines.size(); ++i) {
        judge(view.lines[i], view.lines.front(), article.rows[i].why);
      }
      const bool measured = std::ranges::any_of(
          view.lines, [](const auto& line) { return !std::isnan(line.here_ms); });
      if (measured) views.push_back(std::move(view));
    }
  }
  return views;
}

ArticleView together(const std::vector<ArticleView>& views) {
  ArticleView all = views.front();
  for (std::size_t l = 0; l < all.lines.size(); ++l) {
    std::vector<double> ms;
    std::vector<double> speedups;
    int told = 0;
    int reproduced = 0;
    for (const ArticleView& view : views) {
      const ArticleLine& line = view.lines.at(l);
      if (std::isfinite(line.here_ms)) ms.push_back(line.here_ms);
      if (std::isfinite(line.here_speedup)) speedups.push_back(line.here_speedup);
      told += line.reproduced.has_value() ? 1 : 0;
      reproduced += line.reproduced.value_or(false) ? 1 : 0;
    }
    ArticleLine& line = all.lines[l];
    line.here_ms = ms.empty() ? NAN : median(ms);
    line.here_speedup = speedups.empty() ? NAN : median(speedups);
    line.on_cpu_ms = line.off_cpu_ms = {};
    line.reproduced.reset();
    if (told > 0) line.why = fmt::format("on {} of {} machines", reproduced, told);
  }
  return all;
}

std::string said_of(const ArticleLine& line) {
  if (line.reproduced) return *line.reproduced ? "reproduced" : "not reproduced: " + line.why;
  return line.why.empty() ? "base" : line.why;
}

bool tells_threads(const ArticleView& article) {
  return std::ranges::any_of(
      article.lines, [](const ArticleLine& line) { return !std::isnan(line.on_cpu_ms.submitter); });
}

std::vector<ShownFigure> figures_of(const ArticleLine& line, bool threads) {
  std::vector<ShownFigure> figures;
  for (const double value :
       {line.article_ms, line.article_speedup, line.here_ms, line.here_speedup}) {
    figures.push_back({short_number(value), value});
  }
  if (!line.note.empty()) figures.front().text += '*';
  if (!threads) return figures;
  for (const ThreadsMs& ms : {line.on_cpu_ms, line.off_cpu_ms}) {
    const std::string text =
        fmt::format("{} + {}", short_number(ms.submitter), short_number(ms.others));
    figures.push_back({std::isnan(ms.submitter) ? "-" : text, ms.submitter + ms.others});
  }
  return figures;
}

std::vector<ShownFigure> figures_of(const CellView& cell, const Row& row) {
  const double times = cell.times_best(row);
  return {{short_number(row.median), row.median},
          {interval_text(row.low, row.high), row.low},
          {row.is_limit() ? "limit" : short_number(times), times}};
}

bool FigureColumn::is_known(const std::vector<const Row*>& rows) const {
  return std::ranges::any_of(rows, [&](const Row* row) { return !std::isnan(value(*row)); });
}

const std::vector<FigureColumn>& figure_columns() {
  static const std::vector<FigureColumn> columns{
      {"time each", [](const Row& row) { return row.per_item_of(row.wall_ns_per_op); },
       short_duration},
      {"CPU each", [](const Row& row) { return row.per_item_of(row.cpu_ns_per_op); },
       short_duration},
      {"off CPU each",
       [](const Row& row) {
         return row.per_item.submitter.off_cpu_ns + row.per_item.others.off_cpu_ns;
       },
       short_duration},
      {"elsewhere", [](const Row& row) { return row.share_elsewhere; },
       [](double share) { return fmt::format("{:.0f} %", 100 * share); }},
      {"switches each",
       [](const Row& row) {
         return row.per_item.voluntary_switches + row.per_item.involuntary_switches;
       },
       short_number},
      {"start", [](const Row& row) { return row.start_ns; }, short_duration},
      {"stop", [](const Row& row) { return row.stop_ns; }, short_duration},
      {"peak memory", [](const Row& row) { return row.peak_memory_bytes; }, size_text}};
  return columns;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double magnitude = value == 0 ? 0 : std::floor(std::log10(std::abs(value)));
  if (magnitude >= 6) {
    const bool mega = magnitude < 9;
    return fmt::format("{:.3g} {}", value / (mega ? 1e6 : 1e9), mega ? 'M' : 'G');
  }
  return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(2 - magnitude, 0.0, 9.0)));
}

std::string duration_text(double ns, std::string (*text_of)(double)) {
  constexpr std::array<const char*, 4> units{"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && std::abs(ns) >= 999.5; ++unit) ns /= 1e3;
  return fmt::format("{} {}", text_of(ns), units[unit]);
}

std::string short_duration(double ns) {
  return std::isfinite(ns) ? duration_text(ns, short_number) : "-";
}

std::string round_duration(double ns) {
  return duration_text(ns, [](double value) { return fmt::format("{:g}", value); });
}

std::string interval_text(double low, double high, std::string (*text_of)(double)) {
  constexpr double readable = 100;  // times
  if (!std::isfinite(low) || !std::isfinite(high)) return "-";
  if (low != high && !(low > 0 && high <= readable * low)) return "not stable";
  return fmt::format("{} .. {}", text_of(low), text_of(high));
}

std::string size_text(double bytes) {
  if (std::isnan(bytes)) return "-";
  constexpr std::array<const char*, 4> units{"bytes", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && bytes >= 1024; ++unit) bytes /= 1024;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace handoff::lab
