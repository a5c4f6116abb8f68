// SPDX-License-Identifier: MIT
// What a scenario is to the coordinator: parameters, an input, the reference answer, and the unit
// in which its contenders are compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/memory_file.hpp"

namespace handoff::lab {

struct Parameter {
  std::string name;
  std::string meaning;
  std::vector<std::string> defaults;
  std::vector<std::string> words;  // what is allowed; empty: whole numbers from low to high
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // Throws UserError with the allowed range or the nearest word.
  void require_allowed(const std::string& value) const;
};

// One choice of a value for each parameter, in the scenario's order.
class Cell {
 public:
  void set(const std::string& name, const std::string& value);
  [[nodiscard]] const std::string& at(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  [[nodiscard]] std::string text() const;  // n=512 width=2 kernel=ikj
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  friend bool operator==(const Cell&, const Cell&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// What a contender reports for one burst.
struct Reading {
  double wall_ns = 0;
  double cpu_ns = 0;  // of all threads of its process
  double operations = 0;
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
  // The scenario's metric for what was done in a burst.
  [[nodiscard]] virtual double metric(const Reading& reading) const = 0;
  // The slowest that one honest operation may be; a contender silent for longer hangs.
  [[nodiscard]] virtual std::chrono::nanoseconds slowest_operation() const = 0;
};

// What an article measured, to stand beside what this machine measures.
struct ArticleRow {
  std::string scheme;
  double milliseconds;
  std::string note;
  std::string contender;  // who runs the same scheme here; empty: nobody yet
};

struct Article {
  std::string title;
  Cell cell;
  std::vector<ArticleRow> rows;
};

// A variable for a contender's environment, set before it is started.
struct Variable {
  std::string name;
  std::string value;
};

class Bench;
struct Contender;

class Scenario {
 public:
  virtual ~Scenario() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  [[nodiscard]] virtual std::string metric() const = 0;
  [[nodiscard]] virtual std::string unit() const = 0;
  [[nodiscard]] virtual bool higher_is_better() const = 0;
  [[nodiscard]] virtual const std::vector<Parameter>& parameters() const = 0;
  [[nodiscard]] virtual std::optional<Article> article() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const Problem> problem(const Cell& cell) = 0;
  // What the contenders' libraries must be told to be at their best on this machine, found by
  // measuring if these cells need it.
  [[nodiscard]] virtual std::vector<Variable> variables(
      const std::vector<Cell>& cells, const std::vector<Contender>& contenders, Bench& bench) = 0;

  [[nodiscard]] const Parameter& parameter(const std::string& name) const;
  // Every combination of the values; a parameter that is not among them takes its defaults.
  using Values = std::vector<std::pair<std::string, std::vector<std::string>>>;
  [[nodiscard]] std::vector<Cell> cells(const Values& values) const;
};

}  // namespace handoff::lab
