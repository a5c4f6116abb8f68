// SPDX-License-Identifier: MIT
// Whether an article's scheme, re-made here, behaves as its article says: if not, its rows must not
// stand for it.
#pragma once

#include <vector>

#include "harness/bursts.hpp"

namespace handoff::lab {

// Rows of one block. A seed whose ratio is further than 20 % from the known one is uncalibrated.
void calibrate(const std::vector<Calibration>& known, std::vector<Measurement>& measurements);

}  // namespace handoff::lab
