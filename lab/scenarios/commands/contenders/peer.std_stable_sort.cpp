// SPDX-License-Identifier: MIT
// std::stable_sort of keys and indices, on one thread.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
class Stable {
 public:
  explicit Stable(std::size_t /*threads*/) {}
  void operator()(std::vector<typename Radix<Key>::Item>& items) {
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
  }
};

template <class Key>
using Sorted = SortedKeys<Key, Stable<Key>>;

}  // namespace

Operation contender(const Task& task) { return measure<Sorted>(task); }

}  // namespace handoff::lab::commands
