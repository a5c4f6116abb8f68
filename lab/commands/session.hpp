// SPDX-License-Identifier: MIT
// What the measuring commands share: scenarios, contenders and a bench, and the rows that came out.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/options.hpp"
#include "harness/bursts.hpp"
#include "harness/watch.hpp"
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
    bench_.spend_at_most(std::chrono::nanoseconds(whole) / blocks);
  }

  // Measured against each other, interleaved.
  struct Entry {
    Contender contender;
    Cell cell;
  };
  using Block = std::vector<Entry>;

  // Measures each block and appends its rows. A block on a disturbed machine is repeated, a few
  // times; rows of one that stays disturbed are noisy. Interrupted, it keeps what it has measured.
  void measure(Scenario& scenario, const std::vector<Block>& blocks);

  // All that was measured, as the result file has it.
  [[nodiscard]] const nlohmann::json& rows() const { return rows_; }

  // The result file of all that was measured.
  [[nodiscard]] nlohmann::json result(nlohmann::json articles) const;
  // Whether a contender answered wrongly or broke.
  [[nodiscard]] bool broken() const;

 private:
  void measure_block(Scenario& scenario, const Block& block, std::vector<Row>& rows,
                     Progress& progress);
  void watch_block(Scenario& scenario, const Block& block, std::vector<Row>& rows,
                   Progress& progress);
  void keep(const Scenario& scenario, const std::vector<Row>& rows, nlohmann::json block);
  std::vector<Row> rows_of(Scenario& scenario, const Block& block);
  void find_variables(Scenario& scenario, const std::vector<Block>& blocks);

  MeasureOptions options_;
  Scenarios scenarios_ = all_scenarios();
  std::vector<Contender> contenders_;
  Interrupt& interrupt_;
  Bench bench_;
  std::optional<Watch> watch_;
  std::map<std::string, std::vector<Variable>> variables_;  // by scenario
  nlohmann::json blocks_ = nlohmann::json::array();
  int disturbed_in_a_row_ = 0;
  bool interrupted_ = false;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace handoff::lab
