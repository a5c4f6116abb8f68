// SPDX-License-Identifier: MIT
#include "harness/verdict.hpp"

namespace handoff::lab {
namespace {

void require_positive(const Launches& launches) {
  const auto fits = [](double value) { return std::isfinite(value) && value > 0; };
  for (const auto& bursts : launches) {
    if (!std::ranges::all_of(bursts, fits)) {
      throw std::invalid_argument("a ratio of values that are not finite and above 0");
    }
  }
}

Change change_of(const JudgedChange& judged, const Judging& judging) {
  const double above = 1 + judged.margin;
  const double below = 1 / above;  // so that exchanging the two sides turns the verdict around
  const Change more = judging.higher_is_better ? Change::improved : Change::worse;
  const Change less = judging.higher_is_better ? Change::worse : Change::improved;
  if (judged.bounds.low > above) return more;
  if (judged.bounds.high < below) return less;
  if (judging.disturbed) return Change::too_noisy;  // what favours one side can hide a difference
  const bool inside = judged.bounds.low >= below && judged.bounds.high <= above;
  return inside ? Change::unchanged : Change::too_noisy;
}

// Whether the usual bursts say what the best ones say, at least halfway to the margin. A way that
// is fast only in the moments at which it had all CPUs is fast only there.
bool is_usual(const JudgedChange& judged, double usual) {
  const double halfway = 1 + judged.margin / 2;
  return judged.ratio > 1 ? usual > halfway : usual < 1 / halfway;
}

}  // namespace

std::string_view name_of(Change change) {
  switch (change) {
    case Change::improved: return "improved";
    case Change::unchanged: return "unchanged";
    case Change::worse: return "worse";
    case Change::too_noisy: break;
  }
  return "too noisy";
}

JudgedChange judge_change(const Launches& now, const Launches& before, const Judging& judging,
                          std::uint64_t seed) {
  require_positive(now);
  require_positive(before);
  const bool beside_others = judging.disturbed && judging.disturbed_margin.has_value();
  const Launches ratios =
      beside_others ? ratio_of_best(now, before, judging.higher_is_better) : ratio(now, before);
  JudgedChange judged;
  const Agreement agreed = agreement(ratios, seed, judging.level);
  judged.ratio = agreed.value;
  judged.bounds = interval(agreed.draws, judging.level);
  judged.margin = std::max(kLeastMargin, judging.floor);
  if (beside_others) judged.margin = std::max(judged.margin, *judging.disturbed_margin);
  const bool trusted = !judging.disturbed || beside_others;
  if (trusted && ratios.size() >= kLooks.front()) judged.change = change_of(judged, judging);
  if (beside_others && !is_usual(judged, typical(ratio(now, before)))) {
    judged.change = Change::too_noisy;
  }
  return judged;
}

}  // namespace handoff::lab
