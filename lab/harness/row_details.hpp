// SPDX-License-Identifier: MIT
// What a row says beside its metric: phases, layouts, memory, context switches, counters and
// latencies.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/bursts.hpp"

namespace handoff::lab {

// Keys of the result file's row; null where there is nothing to say.
nlohmann::json details_of(const Row& row);

}  // namespace handoff::lab
