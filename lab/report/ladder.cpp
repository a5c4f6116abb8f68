// SPDX-License-Identifier: MIT
#include "report/ladder.hpp"

namespace handoff::lab {}  // namespace handoff::lab
