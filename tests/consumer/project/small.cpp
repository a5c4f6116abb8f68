// SPDX-License-Identifier: MIT
//
// A pool with a name, a future and a loop: how large is what they bring?
#include <cstdio>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <numeric>
#include <vector>

int main() {
  handoff::ThreadPool pool({.name = "small"});
  auto answer = pool.submit([] { return 42; });
  std::vector<int> numbers(1000);
  handoff::parallel_for(pool, 0, 1000, [&](int i) { numbers[static_cast<std::size_t>(i)] = i; });
  std::printf("%d %d\n", answer.get(), std::accumulate(numbers.begin(), numbers.end(), 0));
}
