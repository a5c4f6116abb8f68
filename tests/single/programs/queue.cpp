// SPDX-License-Identifier: MIT
//
// A program that has the queues' single header and nothing else of the library.

#include "handoff_queue.hpp"

#include <cstdio>
#include <thread>

int main() {
  handoff::Channel<int> channel(8);
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i) static_cast<void>(channel.push(i));
    channel.close();
  });
  int sum = 0;
  for (int n : channel) sum += n;  // sleeps and wakes: the channel is shorter
  sender.join();

  handoff::SegmentQueue<int> queue;
  handoff::SpscRing<int> ring(4);
  const bool moved = queue.try_push(7) == handoff::Status::ok &&
                     ring.try_push(queue.try_pop().value_or(0)) == handoff::Status::ok;
  if (sum != 499'500 || !moved || ring.try_pop() != 7) return 1;
  std::puts("right");
}
