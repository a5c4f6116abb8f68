// SPDX-License-Identifier: MIT
// What the measuring commands share: scenarios, contenders and a bench, and the rows that came out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/options.hpp"
#include "harness/bursts.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {

class Session {
 public:
  Session(const MeasureOptions& options, Interrupt& interrupt);

  [[nodiscard]] const Scenarios& scenarios() const { return scenarios_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] const Plan& plan() const { return bench_.plan(); }

  // Measured against each other, interleaved.
  struct Entry {
    Contender contender;
    Cell cell;
  };
  using Block = std::vector<Entry>;

  // Measures each block and appends its rows.
  void measure(Scenario& scenario, const std::vector<Block>& blocks);

  // All that was measured, as the result file has it.
  [[nodiscard]] const nlohmann::json& rows() const { return rows_; }

  // The result file of all that was measured.
  [[nodiscard]] nlohmann::json result(nlohmann::json articles) const;
  // Whether a contender answered wrongly or broke.
  [[nodiscard]] bool broken() const;

 private:
  void find_variables(Scenario& scenario, const std::vector<Block>& blocks);

  MeasureOptions options_;
  Scenarios scenarios_ = all_scenarios();
  std::vector<Contender> contenders_;
  Bench bench_;
  std::map<std::string, std::vector<Variable>> variables_;  // by scenario
  int blocks_ = 0;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace handoff::lab
