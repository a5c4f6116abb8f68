// SPDX-License-Identifier: MIT
//
// The standard library's promise and future, for results that leave this library.
//
// For: Future::to_std() and its kin. Not for: anything inside, where Future is.
// Concurrency, order, blocking, allocation, exceptions: the standard's.
#pragma once

#include <future>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

template <class R>
using StdFuture = std::future<R>;

template <class R>
using StdPromise = std::promise<R>;

}}}  // namespace handoff::HANDOFF_ABI::sync
