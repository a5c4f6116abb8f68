// SPDX-License-Identifier: MIT
// What the measuring commands share: scenarios, contenders and a bench, and the rows that came out.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/options.hpp"
#include "harness/watched_bench.hpp"
#include "report/result.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {

class Session {
 public:
  Session(const MeasureOptions& options, Interrupt& interrupt);

  [[nodiscard]] const Scenarios& scenarios() const { return scenarios_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] const Plan& plan() const { return bench_.plan(); }

  // No more than this for so many blocks, as far as their least launches allow.
  void spend_at_most(std::chrono::seconds whole, std::size_t blocks) {
    bench_.bench().spend_at_most(std::chrono::nanoseconds(whole) / blocks);
  }

  // Measured against each other, interleaved.
  struct Entry {
    Contender contender;
    Cell cell;
  };
  using Block = std::vector<Entry>;

  // Measures each block and appends its rows. Interrupted, it keeps what it has measured.
  void measure(Scenario& scenario, const std::vector<Block>& blocks);

  // What articles measured in this scenario, for the result.
  void add_articles(const Scenario& scenario);

  // All that was measured.
  [[nodiscard]] const std::vector<Row>& rows() const { return result_.rows; }
  // The same with where it was measured.
  [[nodiscard]] Result result() const;
  // Whether a contender answered wrongly or broke.
  [[nodiscard]] bool broken() const;

 private:
  std::vector<Measurement> measurements_of(Scenario& scenario, const Block& block);
  void find_variables(Scenario& scenario, const std::vector<Block>& blocks);

  MeasureOptions options_;
  Scenarios scenarios_ = all_scenarios();
  std::vector<Contender> contenders_;
  Interrupt& interrupt_;
  WatchedBench bench_;
  std::map<std::string, std::vector<Variable>> variables_;  // by scenario
  Result result_;  // without its environment
};

}  // namespace handoff::lab
