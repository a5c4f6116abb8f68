// SPDX-License-Identifier: MIT
// What became of one contender in one cell.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// The first three have figures. A noisy row was measured on a disturbed machine; an uncalibrated
// one does not behave as the article that it stands for. An impossible one had figures that say
// more than the CPUs can do.
enum class RowStatus { ok, noisy, uncalibrated, impossible, wrong, failed, unavailable };

inline constexpr std::array<std::string_view, 7> row_status_names{
    "ok", "noisy", "uncalibrated", "impossible", "wrong", "failed", "unavailable"};

constexpr std::string_view name_of(RowStatus status) {
  return row_status_names[static_cast<std::size_t>(status)];
}

// Whether it answered wrongly or broke.
constexpr bool is_broken(RowStatus status) {
  return status == RowStatus::wrong || status == RowStatus::failed;
}

}  // namespace handoff::lab
