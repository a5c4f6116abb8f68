// SPDX-License-Identifier: MIT
// A program that knows nothing of traces. With an argument it never ends by itself.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include <handoff/pool/thread_pool.hpp>

int main(int arguments, char** /*words*/) {
  pthread_setname_np(pthread_self(), "stranger");
  std::atomic<long> sum = 0;
  {
    handoff::ThreadPool pool(2);
    do {
      for (long i = 1; i <= 1000; ++i) {
        pool.post([&sum, i] { sum += i; });
      }
      sum += pool.submit([] { return 7; }).get();
      if (arguments > 1) std::puts("going on");
      if (arguments > 1) std::fflush(stdout);
    } while (arguments > 1);
    // Lets the workers run out of work, so that one of them sleeps.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::printf("%ld\n", sum.load());
  return 0;
}
