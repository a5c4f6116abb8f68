// SPDX-License-Identifier: MIT
// The two ends of a contender's queue. A queue whose threads each need something of their own (a
// token, a socket) has producer() and consumer(), perhaps with the number of the thread; of any
// other one the queue itself is each thread's end.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::peers {

template <class Queue>
decltype(auto) producer_of(Queue& queue, std::size_t thread) {
  if constexpr (requires { queue.producer(thread); }) {
    return queue.producer(thread);
  } else if constexpr (requires { queue.producer(); }) {
    return queue.producer();
  } else {
    return (queue);
  }
}

template <class Queue>
decltype(auto) consumer_of(Queue& queue, std::size_t thread) {
  if constexpr (requires { queue.consumer(thread); }) {
    return queue.consumer(thread);
  } else if constexpr (requires { queue.consumer(); }) {
    return queue.consumer();
  } else {
    return (queue);
  }
}

}  // namespace handoff::lab::peers
