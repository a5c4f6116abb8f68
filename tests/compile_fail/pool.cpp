// SPDX-License-Identifier: MIT
//
// What may not be done with a pool.

#include <cstddef>

#include <handoff/core/bulk.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

int main() {
  handoff::ThreadPool pool;
  const auto body = [](std::size_t, std::size_t) {};
  const auto completion = [](const handoff::Tally&) noexcept {};
  handoff::BulkOperation operation(pool, 0, body, completion);

#if defined(WRONG_loop_without_the_rooms_header)  // expect: pool/parallel_for.hpp
  handoff::parallel_for(pool, 0, 1, [](std::size_t) {});
#endif
#if defined(WRONG_reduction_without_it)  // expect: pool/parallel_for.hpp
  (void)handoff::parallel_reduce(
      pool, 0, 1, 0, [](std::size_t) { return 1; }, [](int a, int b) { return a + b; });
#endif
#if defined(WRONG_loop_on_what_runs_nothing)  // expect: RunsLoops
  int nothing = 0;
  handoff::parallel_for(nothing, 0, 1, [](std::size_t) {});
#endif
#if defined(WRONG_task_with_arguments)  // expect: is_invocable_v
  pool.post([](int) {});
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: nodiscard
  pool.try_post([] {});
#endif
#if defined(WRONG_arguments_beside_options)  // expect: no matching
  (void)pool.submit([](int n) { return n; }, {.name = "n"}, 1);
#endif
#if defined(WRONG_index_of_who_may_be_no_worker)  // expect: convert|no viable
  const std::size_t index = pool.worker_index();
#endif
#if defined(WRONG_completion_that_may_throw)  // expect: is_nothrow_invocable_v
  handoff::BulkOperation throws(pool, 0, body, [](const handoff::Tally&) {});
#endif
#if defined(WRONG_body_of_one_index)  // expect: is_invocable_v
  handoff::BulkOperation one_index(pool, 0, [](std::size_t) {}, completion);
#endif
#if defined(WRONG_copy_of_an_operation)  // expect: deleted
  auto copy = operation;
#endif
}
