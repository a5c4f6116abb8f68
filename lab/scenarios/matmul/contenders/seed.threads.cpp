// SPDX-License-Identifier: MIT
// The article's fastest scheme: threads started for each product, which claim rows from one
// counter.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [&task, rows = task.rows()] {
    std::atomic<std::size_t> next{0};
    const std::size_t claim = task.claim_rows();
    const auto work = [&] {
      for (;;) {
        const std::size_t first = next.fetch_add(claim, std::memory_order_relaxed);
        if (first >= task.m) return;
        rows(first, std::min(first + claim, task.m));
      }
    };
    std::vector<std::jthread> members;  // joins as it goes out of scope
    for (std::size_t member = 0; member < task.width; ++member) members.emplace_back(work);
  };
}

}  // namespace handoff::lab::matmul
