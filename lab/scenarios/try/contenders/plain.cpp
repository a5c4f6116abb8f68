// SPDX-License-Identifier: MIT
// What needs no library.
#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {
namespace {

// The items one after the other, on the caller's thread: what all ways are compared with.
Operation serial(const Task& task) {
  return [&task] { run_items(0, task.items); };
}

// A new std::thread for each part but the caller's own, each time.
Operation std_thread(const Task& task) {
  return [&task, share = task.share()] {
    std::vector<std::jthread> others;
    for (std::size_t first = share; first < task.items; first += share) {
      others.emplace_back(
          [&task, first, share] { run_items(first, std::min(first + share, task.items)); });
    }
    run_items(0, std::min(share, task.items));
  };
}

// std::async for each part but the caller's own, each time.
Operation std_async(const Task& task) {
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

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"limit.serial", serial},
                                         {"peer.std_thread", std_thread},
                                         {"peer.std_async", std_async}})(task);
}

}  // namespace handoff::lab::trial
