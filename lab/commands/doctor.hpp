// SPDX-License-Identifier: MIT
// `handoff doctor`: is this machine fit to be measured on, and what is missing.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

int doctor(const DoctorOptions& options);

}  // namespace handoff::lab
