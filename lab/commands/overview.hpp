// SPDX-License-Identifier: MIT
// `handoff run --quick` without a scenario: the cells of the ladder (harness/rungs.hpp), within
// three minutes.
//
// First all ways of a rung are launched three times, and the best of each kind are chosen. Then
// only these are launched, ever again, and what they report then is independent of the choice. The
// launches go where a verdict is still open.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/options.hpp"
#include "commands/session.hpp"
#include "harness/rung_order.hpp"
#include "harness/rungs.hpp"
#include "harness/verdict.hpp"

namespace handoff::lab {

class Overview {
 public:
  // Of the contenders that match one of the patterns; no pattern: of all. Throws UserError if they
  // have nothing to do in it.
  Overview(const MeasureOptions& options, const std::vector<std::string>& patterns,
           Session& session);
  ~Overview();
  Overview(const Overview&) = delete;
  Overview& operator=(const Overview&) = delete;

  // Appends rows and rungs to the session. Throws Interrupted, once what was measured until then is
  // there.
  void measure();

 private:
  struct Part;  // a cell of it

  void add_part(const std::string& scenario, const Cell& cell, const RungKind* kind,
                const std::vector<Contender>& contenders);
  void begin();
  void first_launches();
  void first_launches_of(bool rungs, double left);
  void first_launches(Part& part, double share);
  void spend_the_rest();
  bool add_launch(Part& part, const std::vector<Measurement*>& ways, int rounds,
                  Clock::time_point end, bool is_last);
  void look_at(Part& part) const;
  [[nodiscard]] JudgedChange judge(const Part& part) const;
  void forget_what_was_disturbed();
  void finish();
  void finish(Part& part);

  // --launches fixes their number; --time-budget says how long a cell may take. Without them, all
  // cells together have their time.
  [[nodiscard]] std::optional<std::size_t> fixed() const;
  [[nodiscard]] double seconds_left() const;
  // Launches that report on every rung, decided or not.
  [[nodiscard]] std::size_t least() const;
  [[nodiscard]] double seconds_for_launch(const Part& part,
                                          const std::vector<RungState>& states) const;

  MeasureOptions options_;
  Session& session_;
  std::vector<Part> parts_;
  std::optional<Clock::time_point> deadline_;  // nothing: there is none for all of it
  std::optional<Progress> progress_;
  int busy_in_a_row_ = 0;
  int calm_in_a_row_ = 0;
};

}  // namespace handoff::lab
