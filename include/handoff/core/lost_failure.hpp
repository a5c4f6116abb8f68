// SPDX-License-Identifier: MIT
//
// A failure that nobody was told of: a task of a ThreadPool threw, the pool had no on_error, nobody
// called wait() or close() afterwards, and now the pool ends.
//
// It goes to one handler that the program may set, to log or to count. Without one it is a line on
// standard error, the only thing that the library ever prints. A Future that nobody asks keeps its
// failure to itself: to post a task is to say that nobody asks.
// Concurrency: any thread. Blocks: as writing does. Allocates, throws: never.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// `what`: one sentence without a line end, which pool, which task if it has a name, what it threw
// and what to do; alive during the call only. Called on the thread that ends the pool.
using LostFailureHandler = void (*)(const char* what) noexcept;

// Returns the handler before; null: the line.
LostFailureHandler set_lost_failure_handler(LostFailureHandler handler) noexcept;

// Reports a lost failure.
void lost_failure(const char* what) noexcept;

}}  // namespace handoff::HANDOFF_ABI
