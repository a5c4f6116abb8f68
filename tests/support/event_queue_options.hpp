// SPDX-License-Identifier: MIT
//
// Options for tests that are the same for queues with a bound and for those that grow.
#pragma once

#include <cstddef>

namespace handoff::test {

// So much room, where `Queue` has a bound.
template <class Queue>
typename Queue::Options room_for(std::size_t capacity) {
  typename Queue::Options options;
  if constexpr (requires { options.capacity; }) options.capacity = capacity;
  return options;
}

}  // namespace handoff::test
