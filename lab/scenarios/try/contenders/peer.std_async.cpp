// SPDX-License-Identifier: MIT
// std::async for each part but the caller's own, each time.
#include <algorithm>
#include <future>
#include <vector>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  return [&task, share = task.share()] {
    std::vector<std::future<void>> others;
    for (std::size_t first = share; first < task.items; first += share) {
      others.push_back(std::async(std::launch::async, [&task, first, share] {
        run_items(first, std::min(first + share, task.items));
      }));
    }
    run_items(0, std::min(share, task.items));
    for (std::future<void>& other : others) other.get();
  };
}

}  // namespace handoff::lab::trial
