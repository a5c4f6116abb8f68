// SPDX-License-Identifier: MIT
// What is said of a rung, the same in the picture, in its text, and in tables.
#pragma once

#include <string>

#include "report/ladder.hpp"

namespace handoff::lab {

// "14.8x faster than oneTBB", "about equal to oneTBB", "open against oneTBB", "no peer"
[[nodiscard]] std::string verdict_with_peer(const Rung& rung);

// "oneTBB 155 ns"
[[nodiscard]] std::string with_figure(const RungWay& way);

// "order per producer" or "no order", where the peer keeps less order than this library's
// way; else empty.
[[nodiscard]] std::string order_of_peer(const Rung& rung);

// "27.1 ns .. 29.3 ns", "not stable" where that says nothing, "-" where it is not known
[[nodiscard]] std::string interval_of(const RungWay& way);

// "A task nobody waits for: 28.1 ns here, 155 ns in oneTBB, 5.52x faster."
[[nodiscard]] std::string clause_of(const Rung& rung);

// What the picture says, for those who cannot see it: what kept its figures from being trusted, the
// sentence, and a clause for each rung.
[[nodiscard]] std::string ladder_in_words(const Ladder& ladder);

// "good" where this library is faster, "bad" where it is slower, "told" where they are about equal,
// "" where that is open.
[[nodiscard]] const char* tone_of(const Rung& rung);

}  // namespace handoff::lab
