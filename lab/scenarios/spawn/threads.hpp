// SPDX-License-Identifier: MIT
// Measures how long threads take, started one after the other. `start_one(word)` starts a thread
// that calls word.store() once, and returns when that thread has ended.
#pragma once

#include <memory>
#include <span>

#include "harness/contender.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

template <auto start_one>
Prepared measure_threads(const Parameters& /*parameters*/) {
  const auto ran = std::make_shared<std::uint64_t>();
  const auto operation = [ran](Burst& burst) {
    *ran = 0;
    for (std::uint64_t i = 0; i < threads; ++i) {
      Word word;
      start_one(word);
      if (word.is_of_another_stack()) ++*ran;
    }
    burst.items(static_cast<double>(threads));
  };
  return {operation, std::as_writable_bytes(std::span(ran.get(), 1))};
}

}  // namespace handoff::lab::spawn
