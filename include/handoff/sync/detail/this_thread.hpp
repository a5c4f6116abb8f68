// SPDX-License-Identifier: MIT
//
// Which thread this is.
//
// Concurrency: anything by anyone. Blocks, allocates, throws: never.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Names a running thread; may be used again for another one once it has ended.
using ThreadId = const void*;
ThreadId this_thread_id() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync
