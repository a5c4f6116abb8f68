// SPDX-License-Identifier: MIT
// For tests: a channel that delivers its seventh message twice and the eighth not at all.
#include "lying_ring.hpp"

namespace handoff::lab::channels {
namespace {

void lie(Message& received) {
  if (received.words[0] == 8) received = message(7);
}

}  // namespace

Operation contender(const Task& task) { return measure<LyingRing<lie>>(task); }

}  // namespace handoff::lab::channels
