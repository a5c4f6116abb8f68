// SPDX-License-Identifier: MIT
//
// What may not be done with a pool, its groups and its futures.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <handoff/pool/blocking.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

using namespace std::chrono_literals;

void post(handoff::ThreadPool& pool) {
  handoff::TaskGroup group(pool);
  int answer = 42;
  pool.post([&answer] { ++answer; });

  // wrong: a task takes no arguments: capture what it needs
  // pool.post([](int) {});
  // wrong: a task takes no arguments
  // pool.post([](int) {}, {.name = "counts"});
  // wrong: a task takes no arguments
  // (void)pool.try_post([](int) {});
  // wrong: a task takes no arguments
  // (void)pool.post_after(1s, [](int) {});
  // wrong: the Future is one of what the function returns
  // handoff::Future<long> other;
  // (void)pool.try_submit(other, [] { return 1; });
  // wrong: a task takes no arguments
  // group.run([](int) {});
  // wrong: not captured|cannot be implicitly captured
  // pool.post([] { ++answer; });
  // wrong: says whether the call did what it should
  // pool.try_post([] {});
  // wrong: CopyableFunction<void ?\(const .*TaskFailure ?&\)>
  // handoff::ThreadPoolOptions options;
  // options.on_error = [](int) {};
  // wrong: deleted
  // handoff::ThreadPool copy = pool;
  // wrong: no matching
  // handoff::TaskGroup alone;
}

int main() {
  handoff::ThreadPool pool;
  post(pool);
  handoff::Future<int> future = pool.submit([](int n) { return n; }, 1);
  const std::unique_ptr<int> owned = std::make_unique<int>(1);
  int answer = 42;

  // wrong: take the result, or post\(\) what nobody waits for
  // pool.submit([] { return 1; });
  // wrong: takes the arguments that follow it
  // (void)pool.submit([](int n) { return n; }, "one");
  // wrong: takes the arguments that follow it
  // (void)pool.submit([](int n) { return n; }, 1, 2);
  // wrong: takes the arguments that follow it
  // (void)pool.submit([](int& n) { ++n; }, answer);
  // wrong: no matching
  // (void)pool.submit([](int n) { return n; }, {.name = "n"}, 1);
  // wrong: convert|no viable
  // const std::size_t index = pool.worker_index();
  // wrong: with options the function takes no arguments
  // (void)pool.submit([](int n) { return n; }, handoff::TaskOptions{.name = "n"});
  // wrong: std::move\(\) those that have none
  // (void)pool.submit([](std::unique_ptr<int>) {}, owned);
  // wrong: deleted
  // handoff::Future<int> copy = future;
  // wrong: system_clock
  // (void)future.wait(std::chrono::system_clock::now() + 1s);
  // wrong: blocking: what waits is a function
  // handoff::blocking(future.get());
  return future.get() - answer;
}
