// SPDX-License-Identifier: MIT
// The one place where two sets of launches are judged against each other: is there a change, and
// for the better or the worse?
//
// The whole interval of the ratio (statistics.hpp, `agreement`) must lie on one side, and beyond a
// margin that no difference between equals crosses on this machine: max(2 %, the A-against-A
// floor). Inside the margin means unchanged. Everything else is too noisy to tell, which is an
// answer, and the only one that too few launches give. So do disturbed ones, unless the caller
// judges them by a wide margin. docs/design/verdict.md has the reasons and what a simulated machine
// says about them.
#pragma once

#include "harness/statistics.hpp"

namespace handoff::lab {

enum class Change { improved, unchanged, worse, too_noisy };

[[nodiscard]] std::string_view name_of(Change change);  // "too noisy"

struct Judging {
  bool higher_is_better = false;
  double floor = 0;  // the A-against-A floor of the machine: 0.03 means 3 %
  bool disturbed = false;  // something else ran on the machine meanwhile
  // What the interval of disturbed launches must clear to mean a difference; 0.5 means 50 %. Each
  // votes by its best bursts then, and they never mean "unchanged". Nothing: whatever they say is
  // too noisy.
  std::optional<double> disturbed_margin = {};
  // Of the interval. A caller that may look several times, and stops at the first verdict, shares
  // the error out among the looks: 0.998 for each of five keeps 99 % in all.
  double level = 0.99;
};

struct JudgedChange {
  Change change = Change::too_noisy;
  double ratio = 1;  // of the metric, now / before
  Interval bounds{};  // at the level asked for
  double margin = 0;  // what the interval had to leave, 0.02 means 2 %
};

inline constexpr double kLeastMargin = 0.02;

// A command that goes on measuring while it is too noisy judges at these numbers of launches only:
// a look after each launch would sooner or later find a difference between equals. Fewer than the
// first number can only be too noisy, more than the last help little.
inline constexpr std::array<std::size_t, 6> kLooks{5, 8, 12, 16, 24, 32};

// What `try` asks of launches beside another program. The turns are fair to both sides, but the
// program may favour one of them: what sleeps over what spins.
inline constexpr double kDisturbedMargin = 0.5;

// Launch by launch and burst by burst, as `ratio` pairs them: where both were measured in the same
// rounds, the noise that met both falls out. The same seed gives the same judgement. Throws
// std::invalid_argument for values that are not finite and above 0, and where nothing pairs.
[[nodiscard]] JudgedChange judge_change(const Launches& now, const Launches& before,
                                        const Judging& judging, std::uint64_t seed = 1);

}  // namespace handoff::lab
