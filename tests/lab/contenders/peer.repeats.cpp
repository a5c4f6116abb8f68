// SPDX-License-Identifier: MIT
// Runs every job on the spot, but the eighth of each batch in place of the seventh.
#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

struct Repeats {
  explicit Repeats(std::size_t /*width*/) {}
  void batch(std::size_t count, std::size_t steps) {
    for (std::size_t i = 1; i <= count; ++i) {
      static_cast<void>(Job{i == 7 ? 8 : i, steps}());
    }
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Repeats>(task); }

}  // namespace handoff::lab::tasks
