// SPDX-License-Identifier: MIT
// `handoff list`: what can be measured, with what, and which contenders this build has.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Throws UserError.
int list(const ListOptions& options);

}  // namespace handoff::lab
