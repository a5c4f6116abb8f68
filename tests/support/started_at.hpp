// SPDX-License-Identifier: MIT
//
// A ring or deque whose positions begin anywhere, as its user cannot make it: 64 bits never run
// over in a test that begins at 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/queue/channel.hpp>
#include <handoff/queue/internal/ring_slots.hpp>

namespace handoff::test {

template <class Ring>
struct StartedAt : Ring {
  StartedAt(std::size_t capacity, std::uint64_t position)
      : Ring(capacity, detail::RingStart{position}) {}
};

// A channel whose ring does.
template <class Ring>
struct StartedHere : Ring {
  static inline std::uint64_t position = 0;
  explicit StartedHere(std::size_t capacity) : Ring(capacity, detail::RingStart{position}) {}
};
template <class T, class Ring>
struct StartedAt<Channel<T, Ring>> : Channel<T, StartedHere<Ring>> {
  StartedAt(std::size_t capacity, std::uint64_t position)
      : Channel<T, StartedHere<Ring>>((StartedHere<Ring>::position = position, capacity)) {}
};

}  // namespace handoff::test
