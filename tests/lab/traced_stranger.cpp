// SPDX-License-Identifier: MIT
// A program that knows nothing of traces. With the argument `on` it never ends by itself; with
// `bounded` it has a pool that is too small for what it posts, and tasks that sleep.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <handoff/pool/thread_pool.hpp>

static int post_more_than_there_is_room_for() {
  handoff::ThreadPool pool({.width = 2, .capacity = 4, .on_full = handoff::OnFull::wait});
  for (int i = 0; i < 200; ++i) {
    pool.post([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  }
  pool.wait();
  return 0;
}

int main(int arguments, char** words) {
  pthread_setname_np(pthread_self(), "stranger");
  if (arguments > 1 && std::strcmp(words[1], "bounded") == 0) {
    return post_more_than_there_is_room_for();
  }
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
