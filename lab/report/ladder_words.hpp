// SPDX-License-Identifier: MIT
// What a ladder says in words. `ladder_of` puts it together.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

}  // namespace handoff::lab
