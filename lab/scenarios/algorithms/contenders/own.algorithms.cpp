// SPDX-License-Identifier: MIT
// This library's algorithms on a pool, whose caller is one of the threads that execute.
#include <handoff/graph/find.hpp>
#include <handoff/graph/for_each.hpp>
#include <handoff/graph/merge.hpp>
#include <handoff/graph/partition.hpp>
#include <handoff/graph/reduce.hpp>
#include <handoff/graph/scan.hpp>
#include <handoff/graph/sort.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class Own {
 public:
  explicit Own(std::size_t width) : pool_({.width = std::max<std::size_t>(width - 1, 1)}) {}

  template <class T>
  void sort(std::span<T> items) {
    if constexpr (std::is_same_v<T, Record>) {
      handoff::sort(pool_, items, {}, &Record::key);
    } else {
      handoff::sort(pool_, items);
    }
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    if constexpr (std::is_same_v<T, Record>) {
      handoff::stable_sort(pool_, items, {}, &Record::key);
    } else {
      handoff::stable_sort(pool_, items);
    }
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    handoff::inclusive_scan(pool_, in, out.begin());
  }
  Int reduce(std::span<const Int> in) { return handoff::reduce(pool_, in, Int{}); }
  void transform(std::span<const Int> in, std::span<Int> out) {
    handoff::transform(pool_, in, out.begin(), transformed);
  }
  void merge(std::span<const Int> a, std::span<const Int> b, std::span<Int> out) {
    handoff::merge(pool_, a, b, out.begin());
  }
  std::size_t partition(std::span<Int> items) {
    return items.size() - handoff::partition(pool_, items, is_small).size();
  }
  std::size_t find_if(std::span<const Int> in) {
    return static_cast<std::size_t>(handoff::find_if(pool_, in, is_wanted) - in.begin());
  }
  std::size_t count_if(std::span<const Int> in) {
    return static_cast<std::size_t>(handoff::count_if(pool_, in, is_small));
  }

 private:
  ThreadPool pool_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Own>(task); }

}  // namespace handoff::lab::algorithms
