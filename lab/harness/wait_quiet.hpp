// SPDX-License-Identifier: MIT
// Waits for a quiet moment before something is measured.
#pragma once

#include <chrono>
#include <functional>

#include "harness/interrupt.hpp"
#include "harness/machine.hpp"

namespace handoff::lab {

// Returns how many CPUs others took in the half second that was looked at last: less than
// kQuietCpus, unless the time is over. A terminal sees what it waits for. `look_now` is for tests.
double wait_until_quiet(
    std::chrono::duration<double> most, Interrupt& interrupt,
    const std::function<Look()>& look_now = [] { return look(); });

inline constexpr double kQuietCpus = 0.1;

}  // namespace handoff::lab
