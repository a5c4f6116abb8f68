// SPDX-License-Identifier: MIT
// The queues of Boost.Lockfree: one for any number of threads, with nodes that are there from the
// start, and a ring for one producer and one consumer. They have no way to sleep.
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

template <template <class...> class Queue>
class BoostQueue {
 public:
  explicit BoostQueue(const Task& /*task*/) {}

  bool try_push(const Message& message) { return queue_.push(message); }
  bool try_pop(Message& message) { return queue_.pop(message); }

 private:
  Queue<Message, boost::lockfree::capacity<capacity>> queue_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.boost_queue", measure<BoostQueue<boost::lockfree::queue>>},
       {"peer.boost_spsc", measure<BoostQueue<boost::lockfree::spsc_queue>>}})(task);
}

}  // namespace handoff::lab::channels
