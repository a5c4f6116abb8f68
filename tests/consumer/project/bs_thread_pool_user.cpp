// SPDX-License-Identifier: MIT
//
// A stranger's program that was written against BS::thread_pool: prints the sum of a loop.

#include <cstdio>

#include <BS_thread_pool.hpp>

int main() {
  BS::thread_pool pool(2);
  const auto squares = pool.submit_sequence(0, 5, [](int i) { return i * i; }).get();
  int sum = 0;
  for (const int square : squares) sum += square;
  std::printf("%d of %d\n", sum, BS_THREAD_POOL_VERSION_MAJOR);
  return 0;
}
