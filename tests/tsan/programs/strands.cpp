// SPDX-License-Identifier: MIT
//
// State without a lock: two strands over a pool, and a loop on the program's own thread.
#include <chrono>
#include <handoff/pool/loop_executor.hpp>
#include <handoff/pool/serial_executor.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/with_timeout.hpp>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "plant.hpp"

int main() {
  handoff::ThreadPool pool(3);
  std::map<std::string, int> words;
  handoff::SerialExecutor counter(pool);
  handoff::SerialExecutor logger(pool);
  std::string log;
  counter.post([] { inside(); });
  outside();
  std::thread reader([&] {
    for (int i = 0; i < 300; ++i) counter.post([&words, w = std::string(20, 'r')] { ++words[w]; });
  });
  for (int i = 0; i < 300; ++i) {
    counter.post([&, w = std::string(20, char('a' + i % 3))] {
      ++words[w];
      logger.post([&log, c = w[0]] { log += c; });
    });
  }
  reader.join();
  const int many = counter.submit([&] { return int(words.size()); }).get();
  counter.wait();
  logger.wait();
  if (many != 4 || log.size() != 300) return 1;

  // A strand's header has inline functions that the library calls too, on its timers.
  auto late = counter.submit([&words] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return words.size();
  });
  auto timed = handoff::with_timeout(pool, std::move(late), std::chrono::seconds(100));
  if (timed.get() != 4) return 1;

  // The reader ends what the strand has just made.
  for (int i = 0; i < 20; ++i) {
    auto made = pool.submit([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return std::string(30, 'm');
    });
    if (std::move(made).then(counter, [](std::string s) { return s; }).get().size() != 30) return 1;
  }

  handoff::LoopExecutor loop;
  int shown = 0;
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) loop.post([&shown, t = std::string(30, 't')] { shown += t[0]; });
    auto value = loop.submit([&] { return shown; });
    if (value.get() == 0) ++shown;
    loop.shut();
  });
  while (loop.wait() == handoff::Status::ok) loop.drain();
  other.join();
  return shown == 200 * 't' ? 0 : 1;
}
