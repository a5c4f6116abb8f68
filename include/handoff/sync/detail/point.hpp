// SPDX-License-Identifier: MIT
//
// Named places in a protocol, for tests: an exploring build makes each one a step at which a
// process may die; a normal build compiles them to nothing.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>
#else

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

inline void point(const char* /*label*/) noexcept {}

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif
