// SPDX-License-Identifier: MIT
// tbb::parallel_sort of keys and indices, by both: it is not stable.
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
class ParallelSort {
 public:
  explicit ParallelSort(std::size_t threads)
      : control_(tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads)) {}
  void operator()(std::vector<typename Radix<Key>::Item>& items) {
    arena_.execute([&] {
      tbb::parallel_sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
        return a.key != b.key ? a.key < b.key : a.index < b.index;
      });
    });
  }

 private:
  tbb::global_control control_;
  tbb::task_arena arena_;
};

template <class Key>
using Sorted = SortedKeys<Key, ParallelSort<Key>>;

}  // namespace

Operation contender(const Task& task) { return measure<Sorted>(task); }

}  // namespace handoff::lab::commands
