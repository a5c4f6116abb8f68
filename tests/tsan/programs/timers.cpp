// SPDX-License-Identifier: MIT
//
// What is called off: timed tasks, results behind results, results that come too late, stops.
#include <atomic>
#include <chrono>
#include <exception>
#include <handoff/core/on_unheard.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/pool/serial_executor.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/with_timeout.hpp>
#include <handoff/sync/stop_token.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plant.hpp"

namespace {

using namespace std::chrono_literals;
using handoff::sync::StopToken;

// Not seen by the sanitizer as an order.
bool is_set(const std::atomic<bool>& flag) { return flag.load(std::memory_order_relaxed); }
void until(const std::atomic<bool>& flag) {
  while (!is_set(flag)) std::this_thread::yield();
}
void set(std::atomic<bool>& flag) { flag.store(true, std::memory_order_relaxed); }

int timed(handoff::ThreadPool& pool) {
  int runs = 0;
  std::atomic<bool> ran = false;
  auto every = pool.post_every(1ms, [&] {
    ++runs;
    set(ran);
    inside();
  });
  outside();
  until(ran);
  every.cancel_and_wait();
  int once = 0;
  ran = false;
  auto after = pool.post_after(1ms, [&] {
    ++once;
    set(ran);
  });
  until(ran);
  after.cancel_and_wait();
  std::string heard;
  {
    const auto hear = [&heard, own = std::string(30, 'h')](const auto&) { heard = own; };
    handoff::ThreadPool failing({.width = 1, .on_error = hear});
    ran = false;
    auto fails = failing.post_every(1ms, [&ran] {
      set(ran);
      throw 1;
    });
    until(ran);
    fails.cancel_and_wait();
    heard += 'c';
  }
  auto before = std::string(30, 'b');
  auto never = pool.post_after(1h, [&before, end = std::string(30, 'e')] { before += end; });
  before += 'c';
  never.cancel();
  return runs > 0 && once == 1 && before.size() == 31 && heard.size() == 31 ? 0 : 1;
}

// The heap of moments grows on one thread, then on the other.
void armed() {
  handoff::ThreadPool pool(1);
  const auto arm = [&pool] {
    for (int i = 0; i < 300; ++i) (void)pool.post_after(1h, [] {});
  };
  std::thread other(arm);
  arm();
  other.join();
  pool.close(handoff::Closing::abandon);
}

int stopped_behind(handoff::ThreadPool& pool) {
  std::atomic<bool> begun = false;
  const auto work = [&begun](const StopToken& stop) {
    set(begun);
    while (!stop.stop_requested()) std::this_thread::yield();
    return 1;
  };
  auto chain =
      pool.submit(work).then([](int v) { return v + 1; }).on_failure([](const std::exception_ptr&) {
        return 0;
      });
  until(begun);
  int sum = chain.request_stop() ? chain.get() : 0;
  begun = false;
  auto all = handoff::when_all(pool.submit(work), pool.submit(work)).then([](auto both) {
    return std::get<0>(both) + std::get<1>(both);
  });
  until(begun);
  sum += all.request_stop() ? 2 : 0;
  try {
    (void)all.get();
  } catch (const handoff::NotRun&) {
  }
  begun = false;
  auto handed = pool.submit(work).then(pool, [](int v) { return v + 1; });
  until(begun);
  sum += handed.request_stop() ? handed.get() : 0;
  return sum == 6 ? 0 : 1;
}

void too_late() {
  for (int round = 0; round < 40; ++round) {
    std::vector<handoff::Future<int>> results;
    handoff::ThreadPool pool(2);
    for (int i = 0; i < 60; ++i) {
      auto slow = pool.submit([](const StopToken&) {
        std::this_thread::sleep_for(20us);
        return 1;
      });
      results.push_back(handoff::with_timeout(pool, std::move(slow), i * 30us)
                            .then([](int v) { return v; })
                            .on_failure([](const std::exception_ptr&) { return 0; }));
    }
    std::this_thread::sleep_for(round * 30us);
    pool.close(round % 2 != 0 ? handoff::Closing::abandon : handoff::Closing::finish);
  }
}

// Futures that nobody asks, of work that has thrown.
void unheard(handoff::ThreadPool& pool) {
  handoff::set_unheard_handler([](const char*) noexcept {});
  handoff::SerialExecutor strand(pool);
  const auto fail = [](int i) -> int { throw std::runtime_error("text " + std::to_string(i)); };
  for (int i = 0; i < 10; ++i) {
    const auto first = pool.submit(fail, i);
    const auto second = pool.submit([i] { return i; }).then(strand, fail);
    const auto third = strand.submit(fail, i);
    while (!second.is_ready()) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);
  }
}

// A thread that sees a stop, or a callback of it, sees what came before the stop.
int stop() {
  handoff::sync::StopSource source;
  int why = 0;
  int heard = 0;
  std::atomic<bool> listens = false;
  std::thread other([&, token = source.token()] {
    int mine = 0;
    const auto hear = [](void* to) noexcept { ++*static_cast<int*>(to); };
    {
      ++mine;
      const handoff::sync::StopCallback callback(token, hear, &mine);
      set(listens);
      while (!token.stop_requested()) std::this_thread::yield();
      heard = why;
      std::this_thread::sleep_for(1ms);
    }
    heard += mine;
  });
  until(listens);
  why = 7;
  source.request_stop();
  other.join();
  return heard == 9 ? 0 : 1;
}

// on_stop sees what came before the close.
int stopped_by_close() {
  int said = 0;
  std::atomic<int> heard = 0;
  handoff::ThreadPool pool({.width = 2, .on_stop = [&](std::size_t) { heard += said; }});
  pool.post([] {});
  std::this_thread::sleep_for(1ms);  // it sleeps
  said = 1;
  pool.close();
  return heard > 0 ? 0 : 1;
}

}  // namespace

int main() {
  handoff::ThreadPool pool(2);
  too_late();
  armed();
  const int failed = timed(pool) + stopped_behind(pool) + stop() + stopped_by_close();
  unheard(pool);
  return failed;
}
