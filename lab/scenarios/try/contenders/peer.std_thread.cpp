// SPDX-License-Identifier: MIT
// A new std::thread for each part but the caller's own, each time.
#include <algorithm>
#include <thread>
#include <vector>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  return [&task, share = task.share()] {
    std::vector<std::jthread> others;
    for (std::size_t first = share; first < task.items; first += share) {
      others.emplace_back(
          [&task, first, share] { run_items(first, std::min(first + share, task.items)); });
    }
    run_items(0, std::min(share, task.items));
  };
}

}  // namespace handoff::lab::trial
