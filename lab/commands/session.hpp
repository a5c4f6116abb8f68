// SPDX-License-Identifier: MIT
// What the measuring commands share: scenarios, contenders and a bench, and the rows that came out.
#pragma once

#include "commands/options.hpp"
#include "report/result.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {

class Session {
 public:
  Session(const MeasureOptions& options, Interrupt& interrupt);

  [[nodiscard]] const Scenarios& scenarios() const { return scenarios_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  // Throws UserError that names those of the scenario that there are.
  [[nodiscard]] const Contender& contender_named(const Scenario& scenario,
                                                 const std::string& name) const;
  [[nodiscard]] const Plan& plan() const { return bench_.plan(); }

  // Measured against each other, interleaved.
  struct Entry {
    Contender contender;
    Cell cell;
  };
  using Block = std::vector<Entry>;

  // Measures each block and appends its rows; `after_block` may look at them then. Interrupted, it
  // keeps what it has measured.
  void measure(Scenario& scenario, const std::vector<Block>& blocks,
               const std::function<void()>& after_block = {});

  // For a caller that chooses each launch itself: call prepare() with all blocks of a scenario, add
  // launches to the measurements of each block, then call finish() once for each.
  void prepare(Scenario& scenario, const std::vector<Block>& blocks);
  // Builds the contenders that these blocks start and that are missing. prepare() does it too, for
  // one scenario.
  void build(const std::vector<Block>& blocks);
  // Of all that they start.
  void print_targets(const std::vector<Block>& blocks) const;
  [[nodiscard]] std::vector<Measurement> measurements_of(Scenario& scenario, const Block& block);
  [[nodiscard]] WatchedBench& bench() { return bench_; }
  void finish(const Scenario& scenario, std::vector<Measurement>& measurements,
              const std::optional<BlockReport>& report);
  void add_rung(RungChoice rung) { result_.rungs.push_back(std::move(rung)); }
  // Not all that was asked for is there.
  void end_early() { result_.interrupted = true; }

  // What an article measured in this scenario, for the result.
  void add_article(const Scenario& scenario, const Article& article) {
    result_.articles.push_back(table_of(scenario, article));
  }

  // What an earlier session measured, as if it had been this one.
  void take_up(Result earlier);
  // All that was measured.
  [[nodiscard]] const std::vector<Row>& rows() const { return result_.rows; }
  // The same with where it was measured.
  [[nodiscard]] Result result() const;
  // Who took the CPUs meanwhile, in a line for the terminal; empty: next to nobody did.
  [[nodiscard]] std::string busy() { return bench_.busy(); }
  // Whether a contender answered wrongly or broke.
  [[nodiscard]] bool broken() const;

 private:
  // The probe among them, unless nobody is to watch.
  [[nodiscard]] std::vector<Contender> started_by(const std::vector<Block>& blocks) const;
  void find_variables(Scenario& scenario, const std::vector<Block>& blocks);

  MeasureOptions options_;
  Scenarios scenarios_ = all_scenarios();
  std::vector<Contender> contenders_;
  Interrupt& interrupt_;
  WatchedBench bench_;
  std::map<std::string, std::vector<Variable>> variables_;  // by scenario
  Result result_;  // without its environment
};

// Calls work(), and returns the signal that ended it early, if one did: what was measured so far is
// worth keeping. Where there are no rows yet, the signal is thrown on.
template <class Work>
std::optional<Interrupted> until_interrupted(const Session& session, const Work& work) {
  try {
    work();
  } catch (const Interrupted& signal) {
    if (session.rows().empty()) throw;
    return signal;
  }
  return {};
}

// Those of a scenario.
[[nodiscard]] std::vector<Contender> contenders_of(const std::string& scenario,
                                                   const std::vector<Contender>& contenders);
// Those that the cell is for, measured in it against each other.
[[nodiscard]] Session::Block block_of(const std::vector<Contender>& contenders, const Cell& cell);

// The values of --set, which several commands take.
// From PARAMETER=VALUE,... each. Throws UserError.
Scenario::Values values_of(const std::vector<std::string>& settings);

}  // namespace handoff::lab
