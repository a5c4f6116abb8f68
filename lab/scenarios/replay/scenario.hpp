// SPDX-License-Identifier: MIT
// `replay`: a trace's pieces of work, replayed by every way. It needs a trace, so it is none of the
// scenarios of `handoff run`: `handoff replay` makes it.
#pragma once

#include "harness/scenario.hpp"
#include "replay/load.hpp"

namespace handoff::lab::replay {

ScenarioTable scenario(const std::shared_ptr<const Load>& load);

}  // namespace handoff::lab::replay
