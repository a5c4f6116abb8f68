// SPDX-License-Identifier: MIT
//
// What may not be done with the parts of core/.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <handoff/core/copyable_function.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/core/when_all.hpp>

handoff::Status push() { return handoff::Status::ok; }

int main() {
  handoff::UniqueFunction<int(int)> next = [held = std::make_unique<int>(1)](int x) {
    return x + *held;
  };
  handoff::UniqueFunction<int(int)> moved = std::move(next);
  if (push() != handoff::Status::ok) return moved(1);
  handoff::Future<int> future;
  handoff::Future<void> nothing;

  // wrong: deleted
  // handoff::UniqueFunction<int(int)> copy = moved;
  // wrong: conversion|no viable
  // handoff::UniqueFunction<int(int)> other = [](const char*) { return 1; };
  // wrong: conversion|no viable
  // handoff::CopyableFunction<int()> copied = [held = std::make_unique<int>(1)] { return *held; };
  // wrong: deleted
  // handoff::Future<int> one;
  // handoff::Future<int> two;
  // (void)handoff::when_all(one, two);
  // wrong: says whether the call did what it should
  // push();
  // wrong: then: the function takes the result
  // (void)std::move(future).then([](const std::string&) {});
  // wrong: of a Future<void> nothing
  // (void)std::move(nothing).then([](int) {});
  // wrong: then: takes the Future away: std::move
  // (void)future.then([](int) {});
  // wrong: take the result, or post\(\) what nobody waits
  // std::move(future).then([](int) {});
  // wrong: deleted.*system_clock|invokes a deleted
  // handoff::Until until = std::chrono::system_clock::now();
}
