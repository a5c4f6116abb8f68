// SPDX-License-Identifier: MIT
#include "report/way_rows.hpp"

namespace handoff::lab {
namespace {

constexpr std::size_t kFewestLoads = 12;  // that a model is fitted to
constexpr double kLargeFile = 65'536;  // bytes: from there on files are written block by block

bool has_wanted(const Row& row, const Wanted& parameters) {
  return std::ranges::all_of(parameters, [&](const auto& wanted) {
    return value_named(row.parameters, wanted.first) == wanted.second;
  });
}

ParameterValue word(const char* text) { return {text, false}; }
ParameterValue number(double value) {
  return ParameterValue::of(static_cast<std::uint64_t>(std::llround(value)));
}

double value_of(const Row& row, const char* name) {
  const double value = value_named(row.parameters, name).number();
  return std::isnan(value) ? 1 : value;
}

// The last one measured names the way.
ToldWay& way_of(ToldWays& ways, const Row& row, std::string name) {
  ToldWay& way = ways[std::move(name)];
  way.row = &row;
  return way;
}

using Amounts = std::initializer_list<std::pair<Term, double>>;

CostCell cell_of(const Row& row, double ns, Amounts amounts = {}) {
  CostCell cell;
  cell.ns = ns;
  cell.range = range_of(row);
  for (const auto& [term, amount] : amounts) cell[term] = amount;
  return cell;
}

// What a row of a way tells of it; of a way that is known already.
void add_cell(ToldWays& ways, const Row& row, double ns, Amounts amounts) {
  if (!is_row_of_a_way(row)) return;
  way_of(ways, row, row.contender).cells.push_back(cell_of(row, ns, amounts));
}
void add_to_known(ToldWays& ways, const Row& row, double ns, Amounts amounts) {
  const auto known = ways.find(row.contender);
  if (known != ways.end()) known->second.cells.push_back(cell_of(row, ns, amounts));
}

double other_producers_of(const Row& row) { return std::max(0.0, value_of(row, "producers") - 1); }

// What such rows add to a curve, each of one term.
void add_term(const ByContender& rows, Term term, double ns_of_unit, ToldWays& ways) {
  for (const auto& [name, row] : rows) {
    if (!ways.contains(name)) continue;
    ways[name].cells.push_back(cell_of(*row, row->median * ns_of_unit, {{term, 1}}));
  }
}

// Of the problems measured, without their own work. The middle one: what a fork is beside others'
// work differs by more than a fit can tell.
ToldWays ways_of_forks(const MeasuredRows& rows, const Wanted& at_width, double width) {
  ToldWays ways;
  for (const Row* row : rows.of("ns_per_fork", at_width)) {
    if (!is_row_of_a_way(*row)) continue;
    Wanted wanted = at_width;
    wanted.emplace_back("problem", value_named(row->parameters, "problem"));
    const double serial = rows.median_of("limit.serial", "ns_per_fork", wanted);
    const double its_work = std::isnan(serial) ? 0 : serial / width;
    CostCell cell;
    cell.ns = std::max(row->median - its_work, 1e-3);
    cell.range = {std::max(row->low - its_work, 0.0) / cell.ns, (row->high - its_work) / cell.ns};
    cell[Term::nested] = 1;
    way_of(ways, *row, row->contender).cells.push_back(cell);
  }
  for (auto& [name, way] : ways) {
    const auto middle = way.cells.begin() + static_cast<std::ptrdiff_t>(way.cells.size() / 2);
    std::nth_element(way.cells.begin(), middle, way.cells.end(),
                     [](const CostCell& a, const CostCell& b) { return a.ns < b.ns; });
    way.cells = {*middle};
  }
  return ways;
}

ToldWays ways_of_events(const MeasuredRows& rows, const Question& question, bool sleeps) {
  ToldWays ways;
  const auto take = [&](const Row* row, bool has_slept) {
    add_cell(ways, *row, row->median,
             {{Term::item, 1},
              {Term::wake, has_slept ? 1 : 0},
              {Term::contention, other_producers_of(*row)}});
  };
  const Wanted state{{"consumer", word(sleeps ? "sleeps" : "spins")}};
  if (question.for_latency) {
    for (const Row* row : rows.of("events", "latency_p50", state)) take(row, sleeps);
  } else {
    for (const Row* row : rows.of("events", "throughput", {})) take(row, false);
  }
  return ways;
}

ToldWays ways_of_messages(const MeasuredRows& rows, const Question& question, bool sleeps) {
  ToldWays ways;
  const char* const metric = question.for_latency ? "latency_p50" : "throughput";
  Wanted wanted{{"consumer", word(sleeps ? "sleeps" : "spins")}};
  for (const Row* row : rows.of("messages", metric, wanted)) {
    const ParameterValue publish = value_named(row->parameters, "publish");
    const bool is_one_by_one = publish.text.empty() || publish.text == "single";
    if (!is_one_by_one || value_of(*row, "consumers") != 1) continue;
    constexpr double bytes_of_latency = 72;
    add_cell(ways, *row, row->median,
             {{Term::item, 1},
              {Term::byte, question.for_latency ? bytes_of_latency : value_of(*row, "bytes")},
              {Term::contention, other_producers_of(*row)}});
  }
  return ways;
}

ToldWays ways_between_processes(const MeasuredRows& rows, const Question& question, bool sleeps) {
  ToldWays ways;
  const char* const metric = question.for_latency ? "latency" : "throughput";
  for (const Row* row : rows.of("processes", metric, {})) {
    add_cell(ways, *row, question.for_latency ? row->median : 1e9 / row->median,
             {{Term::item, 1}, {Term::byte, value_of(*row, "bytes")}});
  }
  if (!question.for_latency || !sleeps) return ways;
  for (const Row* row : rows.of("processes", "wake", {})) {
    add_to_known(ways, *row, row->median * 1e3,
                 {{Term::item, 1}, {Term::wake, 1}, {Term::byte, value_of(*row, "bytes")}});
  }
  return ways;
}

ToldWays ways_of_commands(const MeasuredRows& rows, const Question& question) {
  ToldWays ways;
  const Wanted wanted{{"threads", ParameterValue::of(question.producers)}};
  for (const Row* row : rows.of("commands", "command", wanted)) {
    const double calls = value_of(*row, "calls");
    add_cell(ways, *row, row->median * calls, {{Term::item, calls}});
  }
  return ways;
}

ToldWays ways_of_files(const MeasuredRows& rows, const Question& question) {
  constexpr double mib = 1024.0 * 1024.0;
  constexpr double bytes_of_small = 4096;
  constexpr double ns_of_mb = 1e9 / 1e6;  // by its MB/s
  ToldWays ways;
  const Wanted wanted{{"durable", ParameterValue::of(question.durable ? 1 : 0)}};
  const auto take = [&](const Row* row, double files, double bytes, double ns) {
    add_cell(ways, *row, ns, {{Term::item, files}, {Term::byte, files * bytes}});
  };
  for (const Row* row : rows.of("files", "write_new", wanted)) {
    const double files = value_of(*row, "files");
    const double bytes = value_of(*row, "mib") * mib;
    take(row, files, bytes, files * bytes * ns_of_mb / row->median);
  }
  for (const Row* row : rows.of("files", "file", wanted)) {
    const double files = value_of(*row, "files");
    take(row, files, bytes_of_small, files * row->median);
  }
  return ways;
}

// What was measured with as many producers as are asked for tells more than what has others: these
// count only where there is no such cell.
void keep_asked_producers(const Question& question, ToldWays& ways) {
  const auto others = static_cast<double>(question.producers - 1);
  const auto fits = [&](const CostCell& cell) {
    return cell.amounts[static_cast<std::size_t>(Term::contention)] == others;
  };
  for (auto& [name, way] : ways) {
    if (std::ranges::none_of(way.cells, fits)) continue;
    std::erase_if(way.cells, [&](const CostCell& cell) { return !fits(cell); });
  }
}

// Whether a waiting thread must not use a CPU.
bool must_sleep(const Question& question) {
  constexpr double spinning_percent = 50;
  return question.idle_percent && *question.idle_percent < spinning_percent;
}

// What each thread gets of all waves, in pieces, if they are shared out evenly. The waves are as
// equal as whole pieces can be. Nothing is shared of a single piece, and equal pieces take whole
// rounds. Uneven ones may leave one thread with a large piece in the end; but a term for that told
// less of loads that the fit had not seen than none does.
double pieces_of_a_thread(const Question& question, double threads) {
  constexpr double as_equal = 1.15;  // the largest one, by the mean
  const std::uint64_t waves = std::min(question.waves, question.count);
  const std::uint64_t least = question.count / waves;
  const std::uint64_t with_one_more = question.count % waves;
  const auto of_a_wave = [&](double pieces) {
    const bool in_rounds = pieces == 1 || question.largest < as_equal;
    return in_rounds ? std::ceil(pieces / threads - 1e-9) : pieces / threads;
  };
  return static_cast<double>(waves - with_one_more) * of_a_wave(static_cast<double>(least)) +
         static_cast<double>(with_one_more) * of_a_wave(static_cast<double>(least + 1));
}

}  // namespace

bool is_row_of_a_way(const Row& row) { return row.kind == "own" || row.kind == "peer"; }

RelativeRange range_of(const Row& row) {
  const RelativeRange range{row.low / row.median, row.high / row.median};
  return row.higher_is_better ? RelativeRange{1 / range.high, 1 / range.low} : range;
}

MeasuredRows::MeasuredRows(const Results& results) {
  for (const Result* result : results) {
    for (const Row& row : result->rows) {
      if (row.is_measured()) rows_.push_back(&row);
      const bool is_ruled_out = is_broken(row.status) || row.status == RowStatus::impossible;
      if (is_ruled_out) broken_.push_back(&row);
    }
  }
}

std::vector<const Row*> MeasuredRows::of(const char* metric, const Wanted& wanted) const {
  std::vector<const Row*> found;
  for (const Row* row : rows_) {
    if (row->metric == metric && has_wanted(*row, wanted)) found.push_back(row);
  }
  return found;
}

std::vector<const Row*> MeasuredRows::of(const char* scenario, const char* metric,
                                         const Wanted& wanted) const {
  std::vector<const Row*> found = of(metric, wanted);
  std::erase_if(found, [&](const Row* row) { return row->scenario != scenario; });
  return found;
}

ByContender MeasuredRows::ways(const char* metric, const Wanted& wanted) const {
  ByContender found;
  for (const Row* row : of(metric, wanted)) {
    if (is_row_of_a_way(*row)) found[row->contender] = row;
  }
  return found;
}

ByContender MeasuredRows::broken(const char* metric, const Wanted& wanted) const {
  ByContender found;
  for (const Row* row : broken_) {
    const bool is_wanted = row->metric == metric && has_wanted(*row, wanted);
    if (is_wanted && is_row_of_a_way(*row)) found[row->contender] = row;
  }
  return found;
}

double MeasuredRows::median_of(const std::string& contender, const char* metric,
                               const Wanted& wanted) const {
  double median = NAN;
  for (const Row* row : of(metric, wanted)) {
    if (row->contender == contender) median = row->median;
  }
  return median;
}

ToldWays ways_of_pieces(const MeasuredRows& rows, const Question& question,
                        const Wanted& at_width) {
  const double width = at_width.front().second.number();
  if (question.nested) return ways_of_forks(rows, at_width, width);
  Wanted wanted = at_width;
  wanted.emplace_back("unit", word(question.by_index ? "index" : "task"));
  ToldWays ways;
  for (const auto& [name, row] : rows.ways("metg50", wanted)) {
    const auto curve = row->curves.find("efficiency");
    ToldWay& way = way_of(ways, *row, name);
    if (curve != row->curves.end()) way.curve = EfficiencyCurve(curve->second);
  }
  // A loop as a whole costs what one does beyond its work, and a thread that sleeps is woken.
  if (question.by_index) add_term(rows.ways("loop_1us", at_width), Term::fixed, 1, ways);
  if (question.waves > 1 || question.for_latency) {
    add_term(rows.ways("ping", at_width), Term::wake, 1e3, ways);
  }
  return ways;
}

Question question_of_load(const Row& row, double serial_ns) {
  Question load;
  load.count = static_cast<std::uint64_t>(std::max(1.0, row.items_per_op));
  load.task_ns = serial_ns / static_cast<double>(load.count);
  load.by_index = figure_named(row.figures, "by_index") == 1;
  load.nested = figure_named(row.figures, "fan_out") > 0;
  load.by_memory = figure_named(row.figures, "by_memory") == 1;
  load.largest = std::max(1.0, figure_named(row.figures, "largest"));
  load.waves = static_cast<std::uint64_t>(std::max(1.0, figure_named(row.figures, "waves")));
  return load;
}

ToldWays ways_of_loads(const MeasuredRows& rows, const Question& question, std::uint64_t width) {
  ToldWays ways;
  std::map<ParameterValues, double> serial;
  for (const Row* row : rows.of("loads", "time", {{"width", ParameterValue::of(width)}})) {
    if (row->contender == "own.serial") serial[row->parameters] = row->median;
  }
  for (const Row* row : rows.of("loads", "time", {{"width", ParameterValue::of(width)}})) {
    const auto alone = serial.find(row->parameters);
    if (alone == serial.end() || row->contender == "own.serial" || !is_row_of_a_way(*row)) continue;
    const Question load = question_of_load(*row, alone->second);
    if (load.by_index != question.by_index) continue;
    CostCell cell = cell_of(*row, row->median);
    cell.amounts = amounts_of(load, width);
    way_of(ways, *row, row->contender).cells.push_back(cell);
  }
  std::erase_if(ways, [&](const auto& way) {
    const std::vector<CostCell>& cells = way.second.cells;
    const bool can_nest = std::ranges::any_of(cells, [](const CostCell& cell) {
      return cell.amounts[static_cast<std::size_t>(Term::nested)] > 0;
    });
    return cells.size() < kFewestLoads || (question.nested && !can_nest);
  });
  return ways;
}

ToldWays ways_of_processes(const MeasuredRows& rows, const Question& question,
                           std::uint64_t width) {
  constexpr double under_way = 64;
  ToldWays ways;
  if (question.nested) return ways;
  if (question.by_index) {
    for (const Row* row : rows.of("spawn", "claim", {{"width", ParameterValue::of(width)}})) {
      const bool is_of_threads = row->contender.starts_with("own.thread_team");
      if (!is_row_of_a_way(*row) || is_of_threads) continue;
      const double items = value_of(*row, "rows");
      const bool is_team = row->contender == "own.process_team.claims";
      way_of(ways, *row, is_team ? "own.process_team" : row->contender)
          .cells.push_back(cell_of(*row, row->median * items / static_cast<double>(width),
                                   {{Term::fixed, 1}, {Term::item, items}}));
    }
    return ways;
  }
  for (const Row* row : rows.of("spawn", "jobs", {})) {
    add_cell(ways, *row, under_way * 1e9 / row->median,
             {{Term::fixed, 1}, {Term::item, under_way}});
  }
  for (const Row* row : rows.of("spawn", "job", {})) {
    add_to_known(ways, *row, row->median * 1e3, {{Term::fixed, 1}, {Term::item, 1}});
  }
  return ways;
}

ToldWays ways_of_others(const MeasuredRows& rows, const Question& question) {
  const bool sleeps = must_sleep(question);
  if (question.unit == Unit::file) return ways_of_files(rows, question);
  if (question.unit == Unit::command) return ways_of_commands(rows, question);
  if (question.by_processes) return ways_between_processes(rows, question, sleeps);
  ToldWays ways = ways_of_messages(rows, question, sleeps);
  if (question.unit == Unit::event) ways.merge(ways_of_events(rows, question, sleeps));
  keep_asked_producers(question, ways);
  return ways;
}

std::vector<Missing> missing_of_processes(const Question& question, std::uint64_t width) {
  if (question.by_index) {
    return {
        {"spawn", "claim", {{"rows", word("256,65536")}, {"width", ParameterValue::of(width)}}}};
  }
  return {{"spawn", "job", {}}, {"spawn", "jobs", {}}};
}

std::vector<Missing> missing_of_others(const Question& question) {
  const ParameterValue consumer = word(must_sleep(question) ? "sleeps" : "spins");
  const ParameterValue durable = ParameterValue::of(question.durable ? 1 : 0);
  if (question.unit == Unit::command) {
    return {{"commands", "command", {{"threads", ParameterValue::of(question.producers)}}}};
  }
  if (question.unit == Unit::file) {
    const bool is_large = question.bytes.value_or(0) >= kLargeFile;
    if (!is_large) return {{"files", "file", {{"durable", durable}}}};
    return {{"files", "write_new", {{"durable", durable}, {"files", number(10)}}}};
  }
  if (question.by_processes) {
    std::vector<Missing> all{{"processes", question.for_latency ? "latency" : "throughput", {}}};
    if (question.for_latency && must_sleep(question)) all.push_back({"processes", "wake", {}});
    return all;
  }
  if (question.unit == Unit::event) {
    if (!question.for_latency) return {{"events", "throughput", {}}};
    return {{"events", "latency_p50", {{"consumer", consumer}}}};
  }
  if (question.for_latency) return {{"messages", "latency_p50", {{"consumer", consumer}}}};
  return {{"messages",
           "throughput",
           {{"bytes", word("8,72,1024")}, {"consumer", consumer}, {"publish", word("single")}}}};
}

Terms amounts_of(const Question& question, std::uint64_t width) {
  CostCell cell;
  const auto count = static_cast<double>(question.count);
  const auto waves = static_cast<double>(std::min(question.waves, question.count));
  const double shared = pieces_of_a_thread(question, static_cast<double>(width));
  const bool sleeps = question.waves > 1 || question.for_latency;
  cell[Term::fixed] = waves;
  cell[Term::wake] = sleeps ? waves : 0;
  cell[question.nested ? Term::nested : Term::item] = count;
  cell[question.by_memory ? Term::memory : Term::work] = shared * question.task_ns;
  cell[Term::byte] = count * question.bytes.value_or(0);
  cell[Term::contention] = count * static_cast<double>(question.producers - 1);
  cell[Term::late] = sleeps ? (count - shared) * question.task_ns : 0;
  return cell.amounts;
}

}  // namespace handoff::lab
