// SPDX-License-Identifier: MIT
// The queues of Boost.Lockfree.
#include "peers/boost_queues.hpp"
#include "scenarios/channels/measure.hpp"

handoff::lab::Operation handoff::lab::channels::contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.boost_queue", measure<peers::BoostQueue<Message, capacity>>},
       {"peer.boost_spsc", measure<peers::BoostRing<Message, capacity>>}})(task);
}
