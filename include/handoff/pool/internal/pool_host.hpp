// SPDX-License-Identifier: MIT
//
// Whether an executor is a ThreadPool, whose tasks may do work of others while they wait for it.
// Not for users.
#pragma once

#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/workplace.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class ThreadPool;

namespace detail {

class Engine;
Engine& engine_of(ThreadPool& pool) noexcept;

// The pool; null: it is none.
template <class E>
const FutureHost* pool_host(E& executor) noexcept {
  if constexpr (std::is_same_v<E, ThreadPool>) {
    return &engine_of(executor);
  } else {
    return nullptr;
  }
}

// Whether the calling thread runs a task of this pool.
inline bool runs_task_of(const FutureHost* pool) noexcept {
  const Workplace* place = workplace();
  while (place != nullptr && (&place->host != pool || place->depth == 0)) place = place->outer;
  return place != nullptr;
}

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
