// SPDX-License-Identifier: MIT
// Boost.Lockfree's queue for any number of threads, with nodes that are there from the start.
#include <boost/lockfree/queue.hpp>

#include "scenarios/channels/boost_queue.hpp"

handoff::lab::channels::Operation handoff::lab::channels::contender(const Task& task) {
  using Queue = boost::lockfree::queue<Message, boost::lockfree::capacity<capacity>>;
  return measure<BoostQueue<Queue>>(task);
}
