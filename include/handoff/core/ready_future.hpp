// SPDX-License-Identifier: MIT
//
// A Future whose result is there already.
//
//   auto page_of = [&](const Url& url) -> handoff::Future<Page> {
//     const Page* kept = cache.find(url);
//     if (kept != nullptr) return handoff::ready_future(*kept);
//     return pool.submit(load, url);
//   };
//
// For: functions that return a Future, and sometimes know the result at once.
//
// Contract: as Future. What the copy of the value throws, get() throws. Allocates: once.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/misuse.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// get() gives this value.
template <class T>
[[nodiscard]] Future<std::decay_t<T>> ready_future(T&& value) {
  Future<std::decay_t<T>> future;
  detail::Promise(future).set_value(std::forward<T>(value));
  return future;
}
[[nodiscard]] inline Future<void> ready_future() {
  Future<void> future;
  detail::Promise(future).set_value();
  return future;
}

// get() throws this. A null one is misuse.
template <class R>
[[nodiscard]] Future<R> failed_future(std::exception_ptr error) {
  if (error == nullptr) misuse("failed_future: no error");
  Future<R> future;
  detail::Promise(future).set_exception(std::move(error));
  return future;
}

}}  // namespace handoff::HANDOFF_ABI
