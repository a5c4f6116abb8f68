// SPDX-License-Identifier: MIT
// Polling, for a thread that must not sleep. It yields from time to time, since the thread that it
// waits for may need this CPU.
#pragma once

#include <thread>

namespace handoff::lab::peers {

// Until attempt() says true.
template <class Attempt>
void retry(Attempt&& attempt) {
  constexpr int spins_before_a_yield = 1000;
  for (int spins = 0; !attempt(); ++spins) {
    if (spins < spins_before_a_yield) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace handoff::lab::peers
