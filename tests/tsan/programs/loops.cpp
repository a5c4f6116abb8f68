// SPDX-License-Identifier: MIT
//
// Divide and conquer, and loops: task groups, parallel_for, a reduction, a sort, started loops.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <handoff/graph/reduce.hpp>
#include <handoff/graph/sort.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>
#include <vector>

#include "plant.hpp"

namespace {

std::uint64_t fibonacci(handoff::ThreadPool& pool, int n) {
  if (n < 10) return n < 2 ? std::uint64_t(n) : fibonacci(pool, n - 1) + fibonacci(pool, n - 2);
  std::uint64_t left = 0;
  handoff::TaskGroup group(pool);
  group.run([&] { left = fibonacci(pool, n - 1); });
  const std::uint64_t right = fibonacci(pool, n - 2);
  group.wait();
  return left + right;
}

}  // namespace

int main() {
  handoff::ThreadPool pool(3);
  if (pool.submit([&] { return fibonacci(pool, 20); }).get() != 6765) return 1;
  {
    handoff::TaskGroup group(pool);
    group.run([] { inside(); });
    outside();
  }
  handoff::ThreadTeam team(3);
  std::vector<std::uint64_t> numbers(20'000);
  for (int round = 0; round < 20; ++round) {
    handoff::parallel_for(pool, 0, numbers.size(), [&](std::size_t i) { numbers[i] = i ^ 77U; });
    team.run(numbers.size(), [&](handoff::IndexRange range) {
      for (const std::size_t i : range) numbers[i] += 1;
    });
    pool.run(numbers.size(), [&](handoff::IndexRange range) {
      for (const std::size_t i : range) numbers[i] += 1;
    });
  }
  const std::uint64_t sum =
      handoff::reduce(pool, numbers.begin(), numbers.end(), std::uint64_t{0}, std::plus<>());
  handoff::sort(pool, numbers.begin(), numbers.end());
  std::uint64_t again = 0;
  for (const std::uint64_t number : numbers) again += number;
  return sum == again ? 0 : 1;
}
