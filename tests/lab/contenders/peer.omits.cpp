// SPDX-License-Identifier: MIT
// For tests: the last command of each bucket is never dispatched.
#include "lying_commands.hpp"

namespace handoff::lab::commands {
namespace {

struct Lie {
  template <class Items>
  static void sorted(Items& items) {
    items.pop_back();
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<LyingSort<Lie>::Scheme>(task); }

}  // namespace handoff::lab::commands
