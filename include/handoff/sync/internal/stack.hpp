// SPDX-License-Identifier: MIT
//
// How far down its stack a thread is.
//
// For: code that runs other people's code inside other people's code, and must know when to go on
// elsewhere. Not for: measuring.
// Concurrency: each thread asks about itself. Allocates: perhaps, at a thread's first question.
// Blocks, throws: never.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Whether three quarters of the calling thread's stack are in use; under ThreadSanitizer, half of
// it. False where the system does not say how large it is, and in an exploring build, whose threads
// lie on stacks of its own.
bool stack_is_short() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync
