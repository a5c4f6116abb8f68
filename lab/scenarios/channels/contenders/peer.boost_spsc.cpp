// SPDX-License-Identifier: MIT
// Boost.Lockfree's ring for one producer and one consumer.
#include <boost/lockfree/spsc_queue.hpp>

#include "scenarios/channels/boost_queue.hpp"

handoff::lab::channels::Operation handoff::lab::channels::contender(const Task& task) {
  using Queue = boost::lockfree::spsc_queue<Message, boost::lockfree::capacity<capacity>>;
  return measure<BoostQueue<Queue>>(task);
}
