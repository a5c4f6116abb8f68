// SPDX-License-Identifier: MIT
// What a file says of itself before it is loaded: whether it is a shared object for this processor,
// and which one.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::trial {

struct SharedObject {
  // The runtime of ThreadSanitizer that it needs, as it can be preloaded; empty: none.
  std::string race_runtime;
};

// Throws UserError with what it is instead.
SharedObject look_at_shared_object(const std::filesystem::path& path);

}  // namespace handoff::lab::trial
