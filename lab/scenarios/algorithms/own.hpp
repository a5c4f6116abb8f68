// SPDX-License-Identifier: MIT
// This library's algorithms on one of its executors.
#pragma once

#include <handoff/graph/find.hpp>
#include <handoff/graph/for_each.hpp>
#include <handoff/graph/merge.hpp>
#include <handoff/graph/partition.hpp>
#include <handoff/graph/reduce.hpp>
#include <handoff/graph/scan.hpp>
#include <handoff/graph/sort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {

// Made from a width: Executor has a `threads` to run them on.
template <class Executor>
class Own {
 public:
  explicit Own(std::size_t width) : executor_(width) {}

  template <class T>
  void sort(std::span<T> items) {
    if constexpr (std::is_same_v<T, Record>) {
      handoff::sort(executor_.threads, items, {}, &Record::key);
    } else {
      handoff::sort(executor_.threads, items);
    }
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    if constexpr (std::is_same_v<T, Record>) {
      handoff::stable_sort(executor_.threads, items, {}, &Record::key);
    } else {
      handoff::stable_sort(executor_.threads, items);
    }
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    handoff::inclusive_scan(executor_.threads, in, out.begin());
  }
  Int reduce(std::span<const Int> in) { return handoff::reduce(executor_.threads, in, Int{}); }
  void transform(std::span<const Int> in, std::span<Int> out) {
    handoff::transform(executor_.threads, in, out.begin(), transformed);
  }
  void merge(std::span<const Int> a, std::span<const Int> b, std::span<Int> out) {
    handoff::merge(executor_.threads, a, b, out.begin());
  }
  std::size_t partition(std::span<Int> items) {
    return items.size() - handoff::partition(executor_.threads, items, is_small).size();
  }
  std::size_t find_if(std::span<const Int> in) {
    const auto found = handoff::find_if(executor_.threads, in, is_wanted);
    return static_cast<std::size_t>(found - in.begin());
  }
  std::size_t count_if(std::span<const Int> in) {
    return static_cast<std::size_t>(handoff::count_if(executor_.threads, in, is_small));
  }

 private:
  Executor executor_;
};

}  // namespace handoff::lab::algorithms
