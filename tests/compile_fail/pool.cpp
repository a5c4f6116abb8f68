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

#if defined(WRONG_task_with_arguments)  // expect: a task takes no arguments: capture what it needs
  pool.post([](int) {});
#endif
#if defined(WRONG_task_with_arguments_and_options)  // expect: a task takes no arguments
  pool.post([](int) {}, {.name = "counts"});
#endif
#if defined(WRONG_tried_task_with_arguments)  // expect: a task takes no arguments
  (void)pool.try_post([](int) {});
#endif
#if defined(WRONG_timed_task_with_arguments)  // expect: a task takes no arguments
  (void)pool.post_after(1s, [](int) {});
#endif
#if defined(WRONG_tried_future_of_another_type)  // expect: the Future is one of what the function
                                                 // returns
  handoff::Future<long> other;
  (void)pool.try_submit(other, [] { return 1; });
#endif
#if defined(WRONG_task_of_a_group_with_arguments)  // expect: a task takes no arguments
  group.run([](int) {});
#endif
#if defined(WRONG_missing_capture)  // expect: not captured|cannot be implicitly captured
  pool.post([] { ++answer; });
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: says whether the call did what it should
  pool.try_post([] {});
#endif
#if defined(WRONG_handler_of_another_type)  // expect: CopyableFunction<void ?\(const .*TaskFailure
                                            // ?&\)>
  handoff::ThreadPoolOptions options;
  options.on_error = [](int) {};
#endif
#if defined(WRONG_copy_of_a_pool)  // expect: deleted
  handoff::ThreadPool copy = pool;
#endif
#if defined(WRONG_group_without_a_pool)  // expect: no matching
  handoff::TaskGroup alone;
#endif
}

int main() {
  handoff::ThreadPool pool;
  post(pool);
  handoff::Future<int> future = pool.submit([](int n) { return n; }, 1);
  const std::unique_ptr<int> owned = std::make_unique<int>(1);
  int answer = 42;

#if defined(WRONG_result_nobody_takes)  // expect: take the result, or post\(\) what nobody waits
                                        // for
  pool.submit([] { return 1; });
#endif
#if defined(WRONG_arguments_of_another_type)  // expect: takes the arguments that follow it
  (void)pool.submit([](int n) { return n; }, "one");
#endif
#if defined(WRONG_argument_too_many)  // expect: takes the arguments that follow it
  (void)pool.submit([](int n) { return n; }, 1, 2);
#endif
#if defined(WRONG_reference_to_an_argument)  // expect: takes the arguments that follow it
  (void)pool.submit([](int& n) { ++n; }, answer);
#endif
#if defined(WRONG_arguments_beside_options)  // expect: no matching
  (void)pool.submit([](int n) { return n; }, {.name = "n"}, 1);
#endif
#if defined(WRONG_index_of_who_may_be_no_worker)  // expect: convert|no viable
  const std::size_t index = pool.worker_index();
#endif
#if defined(WRONG_arguments_and_then_options)  // expect: with options the function takes no
                                               // arguments
  (void)pool.submit([](int n) { return n; }, handoff::TaskOptions{.name = "n"});
#endif
#if defined(WRONG_argument_that_cannot_be_copied)  // expect: std::move\(\) those that have none
  (void)pool.submit([](std::unique_ptr<int>) {}, owned);
#endif
#if defined(WRONG_copied_future)  // expect: deleted
  handoff::Future<int> copy = future;
#endif
#if defined(WRONG_wait_by_the_wall_clock)  // expect: system_clock
  (void)future.wait(std::chrono::system_clock::now() + 1s);
#endif
#if defined(WRONG_blocking_on_a_value)  // expect: blocking: what waits is a function
  handoff::blocking(future.get());
#endif
  return future.get() - answer;
}
