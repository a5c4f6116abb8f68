// SPDX-License-Identifier: MIT
//
// A server's requests: tasks without a result, tasks with one, tasks behind a result, timers. The
// first ones are traced.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <handoff/core/when_all.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/trace/trace.hpp>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plant.hpp"

// More than a queue has memory for at first, some of it into a queue that the first of them makes,
// and with a token that is stopped in the middle.
void post_much(handoff::ThreadPool& pool) {
  std::stop_source stop;
  std::atomic<std::size_t> letters = 0;
  std::vector<std::jthread> posters;
  for (int i = 0; i < 6; ++i) {
    const auto priority = i < 3 ? handoff::Priority::normal : handoff::Priority::low;
    posters.emplace_back([&, priority] {
      for (int k = 0; k < 700; ++k) {
        pool.post([&letters, text = std::string(30, 'l')] { letters += text.size(); },
                  {.priority = priority});
      }
      for (int k = 0; k < 50; ++k) {
        pool.post([&letters] { ++letters; }, {.until = stop.get_token(), .priority = priority});
      }
      handoff::TaskGroup group(pool);
      for (int k = 0; k < 200; ++k) group.run([&letters] { ++letters; });
      (void)group.wait();
      pool.post_after(std::chrono::microseconds(10), [&letters] { ++letters; });
    });
  }
  while (letters < 30) std::this_thread::yield();
  stop.request_stop();
  posters.clear();
  pool.wait();
}

// By the thread that found the pool full, while another one waits.
bool runs_here() {
  handoff::ThreadPool full({.width = 1, .capacity = 1, .on_full = handoff::OnFull::run_here});
  std::vector<std::string> texts(50);
  std::atomic<bool> is_posted = false;
  std::thread poster([&] {
    for (std::string& text : texts) full.post([&text] { text = std::string(40, 't'); });
    is_posted.store(true, std::memory_order_relaxed);
  });
  while (!is_posted.load(std::memory_order_relaxed)) std::this_thread::yield();
  full.wait();
  std::size_t sum = 0;
  for (const std::string& text : texts) sum += text.size();
  poster.join();
  return sum == 50 * 40;
}

// What a group calls at a failure ends with it.
bool groups_fail(handoff::ThreadPool& pool) {
  std::size_t sum = 0;
  for (int i = 0; i < 20; ++i) {
    std::string told;
    {
      handoff::TaskGroup group(pool,
                               {.on_failure = [&told, own = std::string(40, 'o')] { told = own; }});
      for (int k = 0; k < 8; ++k) group.run([] { throw 1; });
      try {
        (void)group.wait();
      } catch (int) {
      }
      sum += told.size();
    }
  }
  return sum == 20 * 40;
}

int main() {
  if (handoff::trace::start("/dev/null")) return 1;
  handoff::ThreadPool pool(3);
  std::vector<int> squares(100);
  std::string log(80, ' ');  // larger than what a task keeps inside
  pool.post([] { inside(); });
  outside();
  for (int i = 0; i < 100; ++i) pool.post([&squares, i] { squares[std::size_t(i)] = i * i; });
  pool.post([&log, text = std::string(70, 'x')] { log = text; });
  pool.wait();
  if (std::accumulate(squares.begin(), squares.end(), 0) != 328350 || log[0] != 'x') return 1;

  post_much(pool);
  if (!runs_here() || !groups_fail(pool) || handoff::trace::stop().error) return 1;

  int ticks = 0;
  auto timer = pool.post_every(std::chrono::milliseconds(1),
                               [&ticks, s = std::string(9, 's')] { ticks += int(s.size()); });
  std::vector<handoff::Future<std::vector<int>>> parts;
  for (int i = 0; i < 50; ++i) {
    parts.push_back(pool.submit([](int n) { return std::vector<int>(std::size_t(n), n); }, i));
  }
  auto sizes = handoff::when_all(std::move(parts)).then([](auto all) {
    std::size_t sum = 0;
    for (auto& part : all) sum += part.get().size();
    return sum;
  });
  auto named = pool.submit([] { return std::string("done"); }, {.name = "report"})
                   .then(pool, [](std::string text) { return text + "!"; });
  if (sizes.get() != 1225 || named.get() != "done!") return 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  timer.cancel();
  return pool.close().balanced() && ticks > 0 ? 0 : 1;
}
