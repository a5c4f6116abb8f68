// SPDX-License-Identifier: MIT
// For tests: two commands of each bucket are in each other's place.
#include <utility>

#include "lying_commands.hpp"

namespace handoff::lab::commands {
namespace {

struct Lie {
  template <class Items>
  static void sorted(Items& items) {
    std::swap(items.front(), items.back());
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<LyingSort<Lie>::Scheme>(task); }

}  // namespace handoff::lab::commands
