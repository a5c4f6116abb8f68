// SPDX-License-Identifier: MIT
// Figures that cannot be: the threads have done more than so many can.
#pragma once

#include <span>

#include "report/row.hpp"

namespace handoff::lab {

// Of rows of a result, which are all of their cells: those whose efficiency is above 1, or that are
// more times as fast as one thread than they have threads, beyond their range, are marked as
// impossible and lose their figures.
void mark_impossible(std::span<Row> rows);

}  // namespace handoff::lab
