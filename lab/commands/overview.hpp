// SPDX-License-Identifier: MIT
// `handoff run --quick` without a scenario: the rungs of the ladder (harness/rungs.hpp), in less
// than two minutes. `handoff run RUNG`: the rungs named, each for longer.
//
// Each rung has its least number of launches first, in turns, in the order in which people ask.
// What is left of the time goes to the rungs of which the least is known, whatever is known of
// them. Nothing is chosen, thrown away or repeated: every launch counts.
#pragma once

#include "commands/live_ladder.hpp"
#include "commands/session.hpp"
#include "harness/rungs.hpp"

namespace handoff::lab {

// Of a burst in an overview; more launches tell more than longer ones.
inline constexpr std::chrono::milliseconds kOverviewBurst{10};

class Overview : Pinned {
 public:
  // Of the contenders that match one of the patterns; no pattern: of all. Throws UserError if they
  // have nothing to do in it.
  Overview(const RunOptions& options, Session& session);
  ~Overview();
  [[nodiscard]] std::vector<Session::Block> blocks() const;  // of all that it measures

  // Appends rows and rungs to the session. Throws Interrupted, once what was measured until then is
  // there.
  void measure();

 private:
  struct Part;  // a cell of it

  void add_rung(const RungKind& kind, const std::vector<Contender>& contenders);
  void add_beside(const OverviewCell& beside, const std::vector<Contender>& contenders);
  [[nodiscard]] Scenario* scenario_with(const std::string& name, const Cell& cell) const;
  void begin();
  [[nodiscard]] bool is_enough(const Part& part) const;  // by --launches or --time-budget
  void sweep();
  void spend_the_rest();
  void add_launch(Part& part);
  void look_at(Part& part);
  void finish();
  void finish(Part& part);

  // --launches fixes their number; --time-budget says how long a cell may take. Without them, all
  // cells together have their time.
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] double share_of_a_rung() const;  // seconds

  MeasureOptions options_;
  Session& session_;
  std::vector<Part> parts_;
  double time_s_;  // for all cells
  std::optional<Clock::time_point> deadline_;  // nothing: there is none for all of it
  std::optional<LiveLadder> ladder_;
  std::optional<Progress> progress_;
};

}  // namespace handoff::lab
