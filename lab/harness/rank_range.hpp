// SPDX-License-Identifier: MIT
// How many times as long one way takes as others, by a few launches of each, and what may be said
// of it. This is the judge of an overview. It needs no choice beforehand, no margin, and no quiet
// machine: a busy one makes the launches differ, and that makes the range wide.
// docs/design/verdict.md says why, and what it was tried on.
#pragma once

#include "harness/statistics.hpp"

namespace handoff::lab {

// A time for each launch, above 0. Of ways that take turns, those at the same place are of launches
// that were side by side.
using Times = std::vector<double>;

// How likely the truth lies beyond the end of a range.
struct Errors {
  double below;
  double above;
};

// The range of what is typical of `now` over what is typical of `before`, at each end by the first
// of these that the launches are enough for:
//   - as many of both: by the signed ranks of the quotients of those that were side by side
//     (Wilcoxon), from which what met both falls out;
//   - by the ranks of all quotients (Mann and Whitney);
//   - Student's (Welch) on their logarithms; of one launch alone 0 or infinity.
// The first two hold whatever the times are distributed like. Throws std::invalid_argument for
// times that are not finite and above 0, and for none.
[[nodiscard]] Interval ratio_range(const Times& now, const Times& before, const Errors& errors);

// The middles of the two groups into which these fall: at least a quarter of them in each, and two,
// and between them a gap of more than three times their spread. Nothing: they are one group.
[[nodiscard]] std::optional<Interval> two_states_of(const Times& values);

enum class Word { faster, slower, about_equal, not_known };

[[nodiscard]] std::string_view name_of(Word word);  // "about equal"

struct Answer {
  double ratio = 1;  // of the times, ours over theirs
  Interval range{};  // holds the truth in 99 of 100 cases
  Word word = Word::not_known;
};

// Against the best of `others` (at least one), whichever that is: its choice is paid for in the
// range, as in comparisons with the best (Hsu). Quotients in two states have a range that spans
// both. Faster and slower: 1 lies outside of the range at 99.6 %. Else about equal: the range lies
// within 0.8 .. 1.25. Throws as ratio_range() does.
[[nodiscard]] Answer answer_of(const Times& own, const std::vector<Times>& others);

}  // namespace handoff::lab
