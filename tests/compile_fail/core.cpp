// SPDX-License-Identifier: MIT
//
// What may not be done with the parts of core/.

#include <memory>
#include <utility>

#include <handoff/core/copyable_function.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/when_all.hpp>

handoff::Status push() { return handoff::Status::ok; }

int main() {
  handoff::UniqueFunction<int(int)> next = [held = std::make_unique<int>(1)](int x) {
    return x + *held;
  };
  handoff::UniqueFunction<int(int)> moved = std::move(next);
  if (push() != handoff::Status::ok) return moved(1);

#if defined(WRONG_copy)  // expect: deleted
  handoff::UniqueFunction<int(int)> copy = moved;
#endif
#if defined(WRONG_signature)  // expect: conversion|no viable
  handoff::UniqueFunction<int(int)> other = [](const char*) { return 1; };
#endif
#if defined(WRONG_callable_that_cannot_be_copied)  // expect: conversion|no viable
  handoff::CopyableFunction<int()> copied = [held = std::make_unique<int>(1)] { return *held; };
#endif
#if defined(WRONG_futures_that_are_kept)  // expect: deleted
  handoff::Future<int> one;
  handoff::Future<int> two;
  (void)handoff::when_all(one, two);
#endif
#if defined(WRONG_status_nobody_looks_at)  // expect: nodiscard
  push();
#endif
}
