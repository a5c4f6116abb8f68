// SPDX-License-Identifier: MIT
// `handoff list`: what can be measured, with what, and which contenders this build has.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

int list(const MeasureOptions& options);

}  // namespace handoff::lab
