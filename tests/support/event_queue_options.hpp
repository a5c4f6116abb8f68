// SPDX-License-Identifier: MIT
//
// Options for tests that are the same for queues with a bound and for those that grow.
#pragma once

#include <cstddef>

#include <handoff/core/on_full.hpp>

namespace handoff::test {

// So much room, where `Queue` has a bound, and what it does beyond.
template <class Queue>
typename Queue::Options room_for(std::size_t capacity, OnFull on_full) {
  typename Queue::Options options;
  if constexpr (requires { options.capacity; }) {
    options.capacity = capacity;
    options.on_full = on_full;
  }
  return options;
}

}  // namespace handoff::test
