// SPDX-License-Identifier: MIT
// For tests: one command of each bucket comes with another one's arguments.
#include "lying_commands.hpp"

namespace handoff::lab::commands {
namespace {

struct Lie {
  template <class Items>
  static void sorted(Items& items) {
    items[1].index = items[0].index;
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<LyingSort<Lie>::Scheme>(task); }

}  // namespace handoff::lab::commands
