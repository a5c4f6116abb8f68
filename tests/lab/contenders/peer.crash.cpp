// SPDX-License-Identifier: MIT
// For tests: dies of a signal in its second operation.
#include <csignal>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [rows = task.rows(), &task, operations = 0]() mutable {
    if (++operations == 2) std::raise(SIGSEGV);
    rows(0, task.m);
  };
}

}  // namespace handoff::lab::matmul
