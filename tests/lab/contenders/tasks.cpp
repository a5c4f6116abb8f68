// SPDX-License-Identifier: MIT
// Runs every job on the spot: but for the seventh of each batch, or the eighth in its place.
#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

template <bool repeats>
struct Liar {
  explicit Liar(std::size_t /*width*/) {}
  void batch(std::size_t count, std::size_t steps) {
    for (std::size_t i = 1; i <= count; ++i) {
      if (i != 7 || repeats) static_cast<void>(Job{i == 7 ? 8 : i, steps}());
    }
  }
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.loses", measure<Liar<false>>}, {"peer.repeats", measure<Liar<true>>}})(task);
}

}  // namespace handoff::lab::tasks
