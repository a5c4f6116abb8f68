// SPDX-License-Identifier: MIT
//
// Tasks that block: stand-ins take their slots, one after the other, and make tasks of their own.
#include <atomic>
#include <chrono>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <thread>

#include "plant.hpp"

int main() {
  handoff::ThreadPool pool(3);
  pool.post([] { inside(); });
  outside();
  std::atomic<int> ran = 0;
  for (int i = 0; i < 200; ++i) {
    pool.post([&] {
      handoff::blocking([] { std::this_thread::sleep_for(std::chrono::microseconds(500)); });
      int parts[2] = {};
      handoff::TaskGroup group(pool);
      for (int& part : parts) group.run([&part] { ++part; });
      group.wait();
      ran += parts[0] + parts[1];
    });
  }
  pool.wait();
  return ran == 400 ? 0 : 1;
}
