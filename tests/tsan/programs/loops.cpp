// SPDX-License-Identifier: MIT
//
// Divide and conquer, and loops: task groups, parallel_for, a reduction, a sort, started loops.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <handoff/graph/reduce.hpp>
#include <handoff/graph/sort.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/per_worker.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>
#include <thread>
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
  // Threads from outside, one after the other with the same value.
  handoff::PerWorker<std::vector<std::size_t>> seen(pool);
  std::vector<std::thread> callers;
  for (int k = 0; k < 6; ++k) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto see = [&seen](std::size_t i) {
          seen.here().push_back(i);
          std::this_thread::yield();
        };
        handoff::parallel_for(pool, 0, 64, see, {.block = 1});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  std::size_t many = 0;
  for (const auto& here : seen) many += here.size();
  if (many != std::size_t{6} * 50 * 64) return 1;
  const std::uint64_t sum =
      handoff::reduce(pool, numbers.begin(), numbers.end(), std::uint64_t{0}, std::plus<>());
  handoff::sort(pool, numbers.begin(), numbers.end());
  std::uint64_t again = 0;
  for (const std::uint64_t number : numbers) again += number;
  return sum == again ? 0 : 1;
}
