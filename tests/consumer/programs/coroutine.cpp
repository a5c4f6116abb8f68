// SPDX-License-Identifier: MIT
//
// A stranger's program: a function that goes over to a pool and waits there for a result.

#include <coroutine>
#include <cstdio>
#include <future>
#include <thread>

#include <handoff/pool/coroutine.hpp>

struct Job {
  struct promise_type {
    Job get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
};

Job find_answer(handoff::ThreadPool& pool, std::thread::id caller, std::promise<int>& answer) {
  co_await pool.schedule();
  const bool elsewhere = std::this_thread::get_id() != caller;
  const int six = co_await pool.submit([] { return 6; });
  answer.set_value(elsewhere ? six * 7 : 0);
}

int main() {
  std::promise<int> answer;
  handoff::ThreadPool pool(2);
  find_answer(pool, std::this_thread::get_id(), answer);
  if (answer.get_future().get() != 42) return 1;
  std::puts("right");
}
