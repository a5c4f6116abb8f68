// SPDX-License-Identifier: MIT
//
// What may not be done with loops, and with runs on a pool.

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include <handoff/core/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

#if !defined(WRONG_loop_without_the_rooms_header) && !defined(WRONG_reduction_without_it)
#include <handoff/pool/parallel_for.hpp>
#endif

handoff::ThreadPool pool;
std::vector<int> numbers(100);

void loop_over_indices() {
#if defined(WRONG_loop_without_the_rooms_header)  // expect: the executor's header for loops
  handoff::parallel_for(pool, 0, 1, [](std::size_t) {});
#endif
#if defined(WRONG_loop_on_what_runs_nothing)  // expect: runs on a ThreadTeam, a ThreadPool, or
  int nothing = 0;
  handoff::parallel_for(nothing, 0, 1, [](std::size_t) {});
#endif
#if defined(WRONG_loop_on_a_const_pool)  // expect: runs on a ThreadTeam, a ThreadPool, or
  const handoff::ThreadPool& unchanged = pool;
  handoff::parallel_for(unchanged, 0, 1, [](std::size_t) {});
#endif
#if defined(WRONG_body_of_text)  // expect: the body takes an index, or a handoff::IndexRange
  handoff::parallel_for(pool, 0, 100, [](const std::string&) {});
#endif
#if defined(WRONG_body_of_nothing)  // expect: the body takes an index, or a handoff::IndexRange
  handoff::parallel_for(pool, 0, 100, [] {});
#endif
#if defined(WRONG_body_of_two_indices)  // expect: the body takes an index, or a handoff::IndexRange
  handoff::parallel_for(pool, 0, 100, [](std::size_t, std::size_t) {});
#endif
#if defined(WRONG_body_that_misses_a_capture)  // expect: not captured|cannot be implicitly captured
  std::vector<int> local(100);
  handoff::parallel_for(pool, 0, 100, [](std::size_t i) { ++local[i]; });
#endif
}

void loop_over_a_range() {
#if defined(WRONG_body_for_other_elements)  // expect: the body takes an element of the range
  handoff::parallel_for(pool, numbers, [](const std::string&) {});
#endif
#if defined(WRONG_range_on_what_runs_nothing)  // expect: runs on a ThreadTeam, a ThreadPool
  int nothing = 0;
  handoff::parallel_for(nothing, numbers, [](int) {});
#endif
#if defined(WRONG_body_for_other_iterators)  // expect: the body takes what the iterators lead to
  handoff::parallel_for(pool, numbers.begin(), numbers.end(), [](const std::string&) {});
#endif
#if defined(WRONG_elements_that_do_not_change)  // expect: the body takes an element of the range
  const std::vector<int>& constant = numbers;
  handoff::parallel_for(pool, constant, [](int& number) { ++number; });
#endif
#if defined(WRONG_range_of_links)  // expect: one whose iterators jump; copy others into a vector
  std::list<int> links(100);
  handoff::parallel_for(pool, links, [](int) {});
#endif
#if defined(WRONG_iterators_of_links)  // expect: from and to are integers, or iterators of a vector
  std::list<int> links(100);
  handoff::parallel_for(pool, links.begin(), links.end(), [](int) {});
#endif
#if defined(WRONG_end_with_a_fraction)  // expect: from and to are integers, or iterators of a
                                        // vector
  handoff::parallel_for(pool, 0, 99.5, [](int) {});
#endif
#if defined(WRONG_count_alone)  // expect: a range is a vector, an array, a span
  handoff::parallel_for(pool, 100, [](int) {});
#endif
}

void reduce() {
#if defined(WRONG_reduction_without_it)  // expect: include the executor's header for loops
  (void)handoff::parallel_reduce(
      pool, 0, 1, 0, [](std::size_t) { return 1; }, [](int a, int b) { return a + b; });
#endif
#if defined(WRONG_reduction_of_two_types)  // expect: parallel_reduce: combine takes
  (void)handoff::parallel_reduce(
      pool, 0, 100, 0, [](int i) { return i; }, [](const std::string&, int) { return 0; });
#endif
#if defined(WRONG_reduction_of_elements)  // expect: parallel_reduce: map takes an index
  (void)handoff::parallel_reduce(
      pool, 0, 100, 0, [](const std::string&) { return 1; }, [](int a, int b) { return a + b; });
#endif
}

void run() {
  const auto body = [](std::size_t, std::size_t) {};
  const auto completion = [](const handoff::Tally&) noexcept {};
  handoff::BulkOperation operation(pool, 0, body, completion);

#if defined(WRONG_run_of_single_indices)  // expect: parallel_for\(\) takes single indices
  pool.run(100, [](int*) {});
#endif
#if defined(WRONG_completion_that_may_throw)  // expect: const handoff::Tally& and is noexcept
  handoff::BulkOperation throws(pool, 0, body, [](const handoff::Tally&) {});
#endif
#if defined(WRONG_body_of_one_index)  // expect: the body takes the first index and the last
  handoff::BulkOperation one_index(pool, 0, [](std::size_t) {}, completion);
#endif
#if defined(WRONG_operation_on_what_runs_nothing)  // expect: runs on a ThreadTeam, a ThreadPool
  int nothing = 0;
  handoff::BulkOperation idle(nothing, 0, body, completion);
#endif
#if defined(WRONG_start_nobody_looks_at)  // expect: nodiscard
  operation.start();
#endif
#if defined(WRONG_copy_of_an_operation)  // expect: deleted
  auto copy = operation;
#endif
}

int main() {
  loop_over_indices();
  loop_over_a_range();
  reduce();
  run();
}
