// SPDX-License-Identifier: MIT
// Runs every job on the spot, but for the seventh of each batch.
#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

struct Loses {
  explicit Loses(std::size_t /*width*/) {}
  void batch(std::size_t count, std::size_t steps) {
    for (std::size_t i = 1; i <= count; ++i) {
      if (i != 7) static_cast<void>(Job{i, steps}());
    }
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Loses>(task); }

}  // namespace handoff::lab::tasks
