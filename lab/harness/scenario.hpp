// SPDX-License-Identifier: MIT
// What a scenario is to the coordinator: metrics, parameters, an input, the reference answer.
#pragma once

#include "harness/memory_file.hpp"
#include "harness/reading.hpp"

namespace handoff::lab {

// What is compared. The contender is told which one is wanted as its parameter `metric`.
struct Metric {
  std::string name;
  std::string unit;
  bool higher_is_better = false;
  std::string meaning;
};

struct Parameter {
  std::string name;
  std::string meaning;
  std::vector<std::string> defaults;  // none: a cell has it only where it is set
  std::vector<std::string> words;  // what is allowed; empty: whole numbers from low to high
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::vector<std::string> metrics = {};  // whose it is; empty: of all the scenario's

  // A whole number; and one of some words, which are its defaults unless others are given.
  [[nodiscard]] static Parameter number(std::string name, std::string meaning,
                                        std::vector<std::string> defaults, std::uint64_t low,
                                        std::uint64_t high, std::vector<std::string> metrics = {}) {
    return {std::move(name),   std::move(meaning), std::move(defaults), {}, low, high,
            std::move(metrics)};
  }
  [[nodiscard]] static Parameter one_of(std::string name, std::string meaning,
                                        const std::vector<std::string>& words,
                                        std::vector<std::string> metrics = {},
                                        const std::vector<std::string>& defaults = {}) {
    return {std::move(name),   std::move(meaning), defaults.empty() ? words : defaults, words, 0, 0,
            std::move(metrics)};
  }

  [[nodiscard]] bool belongs_to(const std::string& metric) const;
  [[nodiscard]] bool is_number() const;  // also one of a few
  // Throws UserError with the allowed range or the nearest word.
  void require_allowed(const std::string& value) const;
};

// A metric, and one choice of a value for each parameter of it, in the scenario's order.
class Cell {
 public:
  explicit Cell(std::string metric,
                std::initializer_list<std::pair<std::string, std::string>> values = {})
      : metric_(std::move(metric)), values_(values) {}
  [[nodiscard]] const std::string& metric() const { return metric_; }
  void set(const std::string& name, const std::string& value);
  [[nodiscard]] const std::string* find(std::string_view name) const;  // or null
  [[nodiscard]] const std::string& at(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t otherwise) const;
  [[nodiscard]] std::string text() const;  // n=512 width=2 kernel=ikj; without the metric
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  friend bool operator==(const Cell&, const Cell&) = default;

 private:
  std::string metric_;
  std::vector<std::pair<std::string, std::string>> values_;
};

// One input and what is right about an answer to it.
class Problem {
 public:
  virtual ~Problem() = default;
  [[nodiscard]] virtual const MemoryFile& input() const = 0;
  [[nodiscard]] virtual std::size_t answer_bytes() const = 0;
  // What is wrong with the answer, or nothing. A limit does no answerable work: its answer is how
  // much it did of the scenario's unit of work.
  [[nodiscard]] virtual std::optional<std::string> fault(
      bool of_a_limit, std::span<const std::byte> answer) const = 0;
  // The cell's metric for what was done in a burst.
  [[nodiscard]] virtual double metric(const Reading& reading) const = 0;
  // The slowest that one honest operation may be; a contender silent for longer hangs.
  [[nodiscard]] virtual std::chrono::nanoseconds slowest_operation() const = 0;
  // Whether the contender's own threads may take each other's CPU. That one of them waited for a
  // CPU says nothing of other programs then: see preempted().
  [[nodiscard]] virtual bool threads_share_cpus() const { return false; }
  // Whether the kernel's own threads do a part of the contender's work: they write back what it
  // wrote. Their time says nothing of other programs then: see machine.hpp. All problems of a block
  // say the same.
  [[nodiscard]] virtual bool kernel_works_for_it() const { return false; }
};

// What an article measured, to stand beside what this machine measures.
struct ArticleRow {
  std::string scheme;
  double milliseconds;
  std::string note;
  std::string contender;  // which runs the same scheme here; empty: none yet
  std::string why = {};  // where it can not be reproduced: for what reason
  std::string metric = {};  // of its row here, where that is not the article's
};

struct Article {
  std::string title;
  Cell cell;
  std::vector<ArticleRow> rows;
  double metric_ms = 0;  // what 1 of the metric is in ms; 0: it tells a time
  double items = 0;  // that took it; 0: an operation's
};

// How an article's scheme stands to another contender, by the article's figures or by its own code
// on a known machine: the ratio of the cell's metric.
struct Calibration {
  std::string seed;
  std::string against;
  Cell cell;
  double ratio;
};

// A variable for a contender's environment, set before it is started.
struct Variable {
  std::string name;
  std::string value;
};

class Bench;
struct Contender;

class Scenario;

struct ScenarioTable {
  std::string name;
  std::string summary;
  std::vector<Metric> metrics;
  // One name may stand twice: with the same values, and other defaults for other metrics.
  std::vector<Parameter> parameters;
  std::function<std::shared_ptr<const Problem>(const Cell&)> problem;
  std::vector<Article> articles = {};
  std::vector<Calibration> calibrations = {};
  // What the contenders' libraries must be told to be at their best on this machine, found by
  // measuring if these cells need it.
  std::function<std::vector<Variable>(Scenario&, const std::vector<Cell>&,
                                      const std::vector<Contender>&, Bench&)>
      variables = {};
};

class Scenario {
 public:
  explicit Scenario(ScenarioTable table) : table_(std::move(table)) {}

  [[nodiscard]] const std::string& name() const { return table_.name; }
  [[nodiscard]] const std::string& summary() const { return table_.summary; }
  [[nodiscard]] const std::vector<Metric>& metrics() const { return table_.metrics; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return table_.parameters; }
  [[nodiscard]] const std::vector<Article>& articles() const { return table_.articles; }
  [[nodiscard]] const std::vector<Calibration>& calibrations() const { return table_.calibrations; }
  [[nodiscard]] std::shared_ptr<const Problem> problem(const Cell& cell) const {
    return table_.problem(cell);
  }
  [[nodiscard]] std::vector<Variable> variables(const std::vector<Cell>& cells,
                                                const std::vector<Contender>& contenders,
                                                Bench& bench) {
    if (!table_.variables) return {};
    return table_.variables(*this, cells, contenders, bench);
  }

  // These throw UserError with the nearest name or the allowed range. Of a parameter that stands
  // twice it is the first.
  [[nodiscard]] const Metric& metric(const std::string& name) const;
  [[nodiscard]] const Parameter& parameter(const std::string& name) const;
  // For each of the metrics (none: all of them) every combination of the values; a parameter that
  // is not among them takes its defaults.
  using Values = std::vector<std::pair<std::string, std::vector<std::string>>>;
  [[nodiscard]] std::vector<Cell> cells(const Values& values,
                                        const std::vector<std::string>& metrics = {}) const;

 private:
  [[nodiscard]] bool belongs(const std::string& parameter, const std::string& metric) const;
  [[nodiscard]] std::vector<Cell> cells_of(const Metric& metric, const Values& values) const;

  ScenarioTable table_;
};

}  // namespace handoff::lab
