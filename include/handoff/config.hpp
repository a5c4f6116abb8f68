// SPDX-License-Identifier: MIT
//
// What a build is. Everything stands in an inline namespace named after it, so that objects of a
// normal build and of an exploring one (HANDOFF_EXPLORE, see docs/adr) can never be linked into
// one another: the linker names the mistake.
#pragma once

#if defined(HANDOFF_EXPLORE)
#define HANDOFF_ABI explored_0
#else
#define HANDOFF_ABI abi_0
#endif
