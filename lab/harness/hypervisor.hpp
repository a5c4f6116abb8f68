// SPDX-License-Identifier: MIT
// Whether this machine is a virtual one: threads of such a one may stand still while the host runs
// others, and waking one costs more.
#pragma once

#include <optional>
#include <string>

namespace handoff::lab {

// KVM, Hyper-V and so on, or "another" one; "none" where the processor knows of none; nothing where
// it cannot be asked.
[[nodiscard]] std::optional<std::string> this_hypervisor();

}  // namespace handoff::lab
