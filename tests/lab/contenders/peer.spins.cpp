// SPDX-License-Identifier: MIT
// For tests: after its first operation two threads of it never rest again.
#include <memory>
#include <thread>
#include <vector>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  const auto spinners = std::make_shared<std::vector<std::jthread>>();
  return [&task, spinners, rows = task.rows()] {
    rows(0, task.m);
    while (spinners->size() < 2) {
      spinners->emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
    }
  };
}

}  // namespace handoff::lab::matmul
