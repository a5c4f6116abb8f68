// SPDX-License-Identifier: MIT
//
// The unit with the compiled part; it uses a queue too.

#define HANDOFF_IMPLEMENTATION
#include "handoff_queue.hpp"

void send(handoff::Channel<int>& channel, int count);

void send(handoff::Channel<int>& channel, int count) {
  for (int i = 0; i < count; ++i) static_cast<void>(channel.push(i));
  channel.close();
}
