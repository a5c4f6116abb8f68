// SPDX-License-Identifier: MIT
// For tests: a channel that delivers the seventh message with the end of the eighth.
#include "lying_ring.hpp"

namespace handoff::lab::channels {
namespace {

void lie(Message& received) {
  if (received.words[0] == 7) received.words[7] = message(8).words[7];
}

}  // namespace

Operation contender(const Task& task) { return measure<LyingRing<lie>>(task); }

}  // namespace handoff::lab::channels
