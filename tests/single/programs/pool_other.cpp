// SPDX-License-Identifier: MIT
//
// The unit with the compiled part; it uses the pool too.

#define HANDOFF_IMPLEMENTATION
#include "handoff_pool.hpp"

int sum_of_squares(handoff::ThreadPool& pool, int count);

int sum_of_squares(handoff::ThreadPool& pool, int count) {
  std::vector<handoff::Future<int>> squares;
  for (int i = 0; i < count; ++i) {
    squares.push_back(pool.submit([](int n) { return n * n; }, i));
  }
  int sum = 0;
  for (handoff::Future<int>& square : squares) sum += square.get();
  return sum;
}
