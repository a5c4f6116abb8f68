// SPDX-License-Identifier: MIT
// The row of a measurement: here, and nowhere else, its medians and intervals are computed.
#pragma once

#include <cstdint>

#include "harness/bursts.hpp"
#include "report/row.hpp"

namespace handoff::lab {

// `seed` is that of the resamples.
Row finished_row(const Scenario& scenario, const Measurement& measurement, std::uint64_t seed);

// The parameters of a cell as a row has them.
ParameterValues parameters_of(const Scenario& scenario, const Cell& cell);

}  // namespace handoff::lab
