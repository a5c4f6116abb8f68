// SPDX-License-Identifier: MIT
//
// Which thread this is, and whether another one is still there.
//
// Concurrency: anything by anyone. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Names a running thread; may be used again for another one once it has ended.
using ThreadId = const void*;
ThreadId this_thread_id() noexcept;

// The number that the kernel has for a thread; 0: of none. Both calls go to the kernel.
using KernelThread = std::int32_t;
KernelThread this_kernel_thread() noexcept;

// Whether a thread of this process has the number: the kernel says so, whatever the thread did last
// (after fork() the child has none of its parent's threads). A number may be used again for another
// one once its thread has ended.
bool is_alive(KernelThread thread) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync
