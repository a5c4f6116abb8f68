// SPDX-License-Identifier: MIT
//
// Tasks, results, a divided problem and a loop on one pool.
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

namespace {

// Two tasks a call, down to single elements; an idle worker takes the largest part left.
std::size_t count_even(handoff::ThreadPool& pool, const std::vector<int>& v, std::size_t first,
                       std::size_t last) {
  if (last - first == 1) return v[first] % 2 == 0 ? 1 : 0;
  const std::size_t middle = first + (last - first) / 2;
  std::size_t left = 0;
  handoff::TaskGroup group(pool);
  group.run([&] { left = count_even(pool, v, first, middle); });
  const std::size_t right = count_even(pool, v, middle, last);
  group.wait();
  return left + right;
}

}  // namespace

int main() {
  handoff::ThreadPool pool;  // as many threads as this process may use CPUs

  // A result, and what comes after it.
  auto text = pool.submit([](int n) { return std::to_string(n); }, 42).then([](std::string s) {
    return s + "!";
  });

  // Tasks without a result.
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) {
    pool.post([&ran] { ++ran; });
  }

  // A loop and a sum.
  std::vector<int> numbers(10'000);
  handoff::parallel_for(pool, 0, numbers.size(),
                        [&](std::size_t i) { numbers[i] = static_cast<int>(i); });
  const long sum = handoff::parallel_reduce(
      pool, 0, numbers.size(), 0L, [&](std::size_t i) { return long{numbers[i]}; }, std::plus<>());

  const std::size_t even = count_even(pool, numbers, 0, numbers.size());

  const handoff::Tally tally = pool.close(handoff::Closing::finish);
  const bool right = text.get() == "42!" && ran == 1000 && sum == 49'995'000 && even == 5000;
  return right && tally.balanced() && tally.pending == 0 ? 0 : 1;
}
