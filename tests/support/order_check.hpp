// SPDX-License-Identifier: MIT
//
// Finds what breaks the order of several producers' items, as one consumer meets them.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

// What an item carries: the newest numbers of all producers that its own one knew of; its own is
// its number, from 1 on.
template <std::size_t kProducers>
struct Stamp {
  std::size_t producer = 0;
  std::array<std::uint64_t, kProducers> known{};
};

// Counts violations of each producer's FIFO order, and of causal order: the consumer must have seen
// every number that an item's producer knew of before it meets that item.
template <std::size_t kProducers>
struct OrderCheck {
  std::array<std::uint64_t, kProducers> seen{};
  std::size_t inversions = 0;
  std::size_t causal = 0;

  void operator()(const Stamp<kProducers>& stamp) {
    if (stamp.known[stamp.producer] != ++seen[stamp.producer]) ++inversions;
    for (std::size_t other = 0; other < kProducers; ++other) {
      if (other != stamp.producer && stamp.known[other] > seen[other]) ++causal;
    }
  }
};

}  // namespace handoff::test
