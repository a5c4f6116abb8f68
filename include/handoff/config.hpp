// SPDX-License-Identifier: MIT
//
// The ABI namespace. All names stand in an inline namespace named after the build, so that objects
// of a normal build and of an exploring one (HANDOFF_EXPLORE, see docs/adr) do not link into one
// program: the linker names the mistake. What single headers have (HANDOFF_SINGLE) may stand beside
// the library.
#pragma once

#if defined(HANDOFF_SINGLE)
#define HANDOFF_ABI single_0
#elif defined(HANDOFF_EXPLORE)
#define HANDOFF_ABI explored_0
#else
#define HANDOFF_ABI abi_0
#endif
