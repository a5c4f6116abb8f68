// SPDX-License-Identifier: MIT
//
// A model of caches: each thread has one of its own, without limit, kept coherent by MESI.
//
// A line moves when a thread touches it that has not got it, or writes to one that others have too,
// while another thread has it. A line that nobody has comes from memory: that is no move.
#pragma once

#include <cstddef>
#include <cstdint>

namespace handoff::counts {

inline constexpr std::size_t line_bytes = 64;
inline constexpr unsigned most_caches = 64;

// How many lines the access moved.
unsigned move_lines(unsigned cache, std::uintptr_t at, std::size_t bytes, bool writes) noexcept;

}  // namespace handoff::counts
