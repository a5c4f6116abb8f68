// SPDX-License-Identifier: MIT
// What is said of a ladder and of its rungs, the same in the picture, in its text, and in tables.
// `ladder_of` puts it together.
#pragma once

#include "report/ladder.hpp"

namespace handoff::lab {

// As people say it: 4.2 ns, 28 ns, 1.3 us.
[[nodiscard]] std::string plain_duration(double ns);

// The work in the smallest task that is worth handing over: the least size at which all threads
// together do as much as one alone, by a curve of efficiency against size. Between two sizes by the
// logarithm; a single lucky size does not count. Nothing: there is no such size.
[[nodiscard]] std::optional<double> break_even_ns(Points efficiency, double width);

// Ladder::sentence. Empty where no task was measured.
[[nodiscard]] std::string sentence_of(const std::vector<Rung>& rungs, const Result& result);

// Ladder::title.
[[nodiscard]] std::string title_of(const Environment& here);

// "ahead on 7, level on 1, behind on 2, not known on 4", of the rungs that have a best other way.
[[nodiscard]] std::string sum_of(const Ladder& ladder);

// Ladder::busy, by what was seen while each block was measured.
[[nodiscard]] std::string busy_of(const Result& result);

// "14.8x faster than oneTBB", "about equal to oneTBB", "oneTBB: 0.80x .. 1.30x as fast", "no peer",
// with the sign of the peer's order.
[[nodiscard]] std::string verdict_with_peer(const Rung& rung);

// Text with the range behind it, where there is one: "5.5x faster (5.2 .. 6.1)".
[[nodiscard]] std::string with_range_of(const std::string& text, const Rung& rung);

// "oneTBB 155 ns", with the sign of its order.
[[nodiscard]] std::string with_figure(const RungWay& way);

// Of a queue that keeps less than one order for all: "order per producer" or "no order"; else
// empty.
[[nodiscard]] std::string order_of(const RungWay& way);

// What stands behind the name of such a queue in the picture, whose legend tells it; else empty.
[[nodiscard]] std::string sign_of(const RungWay& way);
[[nodiscard]] std::string signed_name(const RungWay& way);

// The named ways that are neither this library's best one nor the peer.
[[nodiscard]] std::vector<const RungWay*> beside_the_best(const Rung& rung);

// "27.1 ns .. 29.3 ns", "not stable" where that says nothing, "-" where it is not known
[[nodiscard]] std::string interval_of(const RungWay& way);

// "An empty task: 28.1 ns here, 155 ns in oneTBB, 5.5x faster (5.2 .. 5.8)."
[[nodiscard]] std::string clause_of(const Rung& rung);

// What the picture says, for those who cannot see it: what kept its figures from being trusted, the
// sentence, and a clause for each rung.
[[nodiscard]] std::string ladder_in_words(const Ladder& ladder);

// "good" where this library is faster, "bad" where it is slower, "told" where they are about equal,
// "" where that is open.
[[nodiscard]] const char* tone_of(const Rung& rung);

}  // namespace handoff::lab
