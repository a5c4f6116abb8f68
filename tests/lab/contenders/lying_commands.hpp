// SPDX-License-Identifier: MIT
// For tests: a sort that is right, and a Lie that changes what comes of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {

// What Lie::sorted(items) leaves is dispatched.
template <class Lie>
struct LyingSort {
  template <class Key>
  class Sorter {
   public:
    explicit Sorter(std::size_t /*threads*/) {}
    void operator()(std::vector<typename Radix<Key>::Item>& items) {
      std::stable_sort(items.begin(), items.end(),
                       [](const auto& a, const auto& b) { return a.key < b.key; });
      Lie::sorted(items);
    }
  };
  template <class Key>
  using Scheme = SortedKeys<Key, Sorter<Key>>;
};

}  // namespace handoff::lab::commands
