// SPDX-License-Identifier: MIT
//
// The study's test of empty tasks, by its pool's names: what it takes to hand over so many.
//
//   example_17_study_pool 100 1000000      # from 100 to 1000000, ten times as many each time

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <threadpool.h>

namespace {

double milliseconds_of(auto&& work) {
  const auto before = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  const int least = argc > 1 ? std::atoi(argv[1]) : 100;
  const int most = argc > 2 ? std::atoi(argv[2]) : 10000;
  const auto threads = static_cast<int>(std::thread::hardware_concurrency());
  std::printf("threads: %d; milliseconds to hand over empty tasks\n", threads);
  for (const auto& [mode, name] :
       {std::pair{PoolMode::MODE_FIXED, "fixed"}, std::pair{PoolMode::MODE_ACTIVE, "active"},
        std::pair{PoolMode::MODE_CACHED, "cached"}}) {
    ThreadPool pool(mode);
    pool.start(threads);
    for (int tasks = least; tasks <= most; tasks *= 10) {
      const double took = milliseconds_of([&] {
        for (int i = 0; i < tasks; ++i) pool.submitTask([] {});
      });
      std::printf("%-6s  tasks: %-8d  %.3f\n", name, tasks, took);
    }
    if (pool.submitTask([](int a, int b) { return a + b; }, 1, 2).get() != 3) return 1;
  }
  return 0;
}
