// SPDX-License-Identifier: MIT
// A plain sort by digits of 8 bits, on one thread.
#include <cstddef>
#include <vector>

#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

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
using Sorted = SortedKeys<Key, ByDigits<Key>>;

}  // namespace

Operation contender(const Task& task) { return measure<Sorted>(task); }

}  // namespace handoff::lab::commands
