// SPDX-License-Identifier: MIT
//
// What may not be done with loops, and with runs on a pool.

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include <handoff/core/parallel_for.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

handoff::ThreadPool pool;
std::vector<int> numbers(100);

void loop_over_indices() {
  // wrong: runs on a ThreadTeam, a ThreadPool, or
  // int nothing = 0;
  // handoff::parallel_for(nothing, 0, 1, [](std::size_t) {});
  // wrong: runs on a ThreadTeam, a ThreadPool, or
  // const handoff::ThreadPool& unchanged = pool;
  // handoff::parallel_for(unchanged, 0, 1, [](std::size_t) {});
  // wrong: the body takes an index, or a handoff::IndexRange
  // handoff::parallel_for(pool, 0, 100, [](const std::string&) {});
  // wrong: the body takes an index, or a handoff::IndexRange
  // handoff::parallel_for(pool, 0, 100, [] {});
  // wrong: the body takes an index, or a handoff::IndexRange
  // handoff::parallel_for(pool, 0, 100, [](std::size_t, std::size_t) {});
  // wrong: not captured|cannot be implicitly captured
  // std::vector<int> local(100);
  // handoff::parallel_for(pool, 0, 100, [](std::size_t i) { ++local[i]; });
}

void loop_over_a_range() {
  // wrong: the body takes an element of the range
  // handoff::parallel_for(pool, numbers, [](const std::string&) {});
  // wrong: runs on a ThreadTeam, a ThreadPool
  // int nothing = 0;
  // handoff::parallel_for(nothing, numbers, [](int) {});
  // wrong: the body takes what the iterators lead to
  // handoff::parallel_for(pool, numbers.begin(), numbers.end(), [](const std::string&) {});
  // wrong: the body takes an element of the range
  // const std::vector<int>& constant = numbers;
  // handoff::parallel_for(pool, constant, [](int& number) { ++number; });
  // wrong: one whose iterators jump; copy others into a vector
  // std::list<int> links(100);
  // handoff::parallel_for(pool, links, [](int) {});
  // wrong: from and to are integers, or iterators of a vector
  // std::list<int> links(100);
  // handoff::parallel_for(pool, links.begin(), links.end(), [](int) {});
  // wrong: from and to are integers, or iterators of a vector
  // handoff::parallel_for(pool, 0, 99.5, [](int) {});
  // wrong: a range is a vector, an array, a span
  // handoff::parallel_for(pool, 100, [](int) {});
}

void reduce() {
  // wrong: parallel_reduce: combine takes
  // (void)handoff::parallel_reduce(
  //     pool, 0, 100, 0, [](int i) { return i; }, [](const std::string&, int) { return 0; });
  // wrong: parallel_reduce: map takes an index
  // (void)handoff::parallel_reduce(
  //     pool, 0, 100, 0, [](const std::string&) { return 1; }, [](int a, int b) { return a + b; });
}

void run() {
  const auto body = [](std::size_t, std::size_t) {};
  const auto completion = [](const handoff::Tally&) noexcept {};
  handoff::BulkOperation operation(pool, 0, body, completion);

  // wrong: parallel_for\(\) takes single indices
  // pool.run(100, [](int*) {});
  // wrong: const handoff::Tally& and is noexcept
  // handoff::BulkOperation throws(pool, 0, body, [](const handoff::Tally&) {});
  // wrong: the body takes the first index and the last
  // handoff::BulkOperation one_index(pool, 0, [](std::size_t) {}, completion);
  // wrong: runs on a ThreadTeam, a ThreadPool
  // int nothing = 0;
  // handoff::BulkOperation idle(nothing, 0, body, completion);
  // wrong: nodiscard
  // operation.start();
  // wrong: deleted
  // auto copy = operation;
}

int main() {
  loop_over_indices();
  loop_over_a_range();
  reduce();
  run();
}
