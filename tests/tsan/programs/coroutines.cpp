// SPDX-License-Identifier: MIT
//
// Coroutines that go from pool to pool, and await results.
#include <atomic>
#include <coroutine>
#include <exception>
#include <handoff/pool/coroutine.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <string>

#include "plant.hpp"

namespace {

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached serve(handoff::ThreadPool& pool, handoff::ThreadPool& disk, int number, int& result,
               std::atomic<int>& left) {
  std::string text = "request " + std::to_string(number);
  co_await pool.schedule();
  if (number == 0) inside();
  text += co_await disk.submit([n = number] { return std::string(std::size_t(n), '.'); });
  co_await pool.schedule();
  result = int(text.size());
  left.fetch_sub(1);
}

}  // namespace

int main() {
  constexpr int requests = 60;
  handoff::ThreadPool pool(2);
  handoff::ThreadPool disk(2);
  int results[requests] = {};
  std::atomic<int> left{requests};
  serve(pool, disk, 0, results[0], left);
  outside();
  for (int i = 1; i < requests; ++i) serve(pool, disk, i, results[i], left);
  while (left.load() != 0) std::this_thread::yield();
  return results[59] == 10 + 59 ? 0 : 1;
}
