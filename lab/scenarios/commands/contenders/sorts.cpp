// SPDX-License-Identifier: MIT
// Keys and indices sorted on one thread.
#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

// A plain sort by digits of 8 bits, on one thread.
template <class Key>
class ByDigits {
 public:
  explicit ByDigits(std::size_t /*threads*/) {}
  void operator()(std::vector<typename Radix<Key>::Item>& items) {
    radix_.items().swap(items);
    radix_.sort();
    radix_.items().swap(items);
  }

 private:
  Radix<Key> radix_;
};

template <class Key>
using SortedByDigits = SortedKeys<Key, ByDigits<Key>>;

// std::stable_sort of keys and indices, on one thread.
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
using SortedStably = SortedKeys<Key, Stable<Key>>;

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"limit.radix", measure<SortedByDigits>},
                                         {"peer.std_stable_sort", measure<SortedStably>}})(task);
}

}  // namespace handoff::lab::commands
