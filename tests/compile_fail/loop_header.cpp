// SPDX-License-Identifier: MIT
//
// Loops on a pool without the header that has them.

#include <cstddef>

#include <handoff/core/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

int main() {
  handoff::ThreadPool pool;
  // wrong: the executor's header for loops
  // handoff::parallel_for(pool, 0, 1, [](std::size_t) {});
  // wrong: include the executor's header for loops
  // (void)handoff::parallel_reduce(
  //     pool, 0, 1, 0, [](std::size_t) { return 1; }, [](int a, int b) { return a + b; });
}
