// SPDX-License-Identifier: MIT
//
// The rows of the table, and which of them a thread counts for.
#pragma once

#include <array>
#include <cstdint>

#include "baton.hpp"
#include "events.hpp"

namespace handoff::counts {

struct Row {
  std::array<char, 96> name{};
  std::uint64_t operations = 0;
  Counts counts{};
};

// The row that all threads count for which have none of their own; null: none.
extern Row* row_of_all;

inline Row* row_of(const Thread& thread) noexcept {
  return thread.row != nullptr ? thread.row : row_of_all;
}

// A line for each row: its name, how many operations, and what was counted.
void print_rows() noexcept;

}  // namespace handoff::counts
