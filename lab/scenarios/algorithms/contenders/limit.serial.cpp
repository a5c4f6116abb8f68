// SPDX-License-Identifier: MIT
// The standard library on one thread.
#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

struct Standard {
  explicit Standard(std::size_t /*width*/) {}

  template <class T>
  void sort(std::span<T> items) {
    std::sort(items.begin(), items.end(), Below<T>());
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    std::stable_sort(items.begin(), items.end(), Below<T>());
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    std::inclusive_scan(in.begin(), in.end(), out.begin());
  }
  Int reduce(std::span<const Int> in) { return std::reduce(in.begin(), in.end()); }
  void transform(std::span<const Int> in, std::span<Int> out) {
    std::transform(in.begin(), in.end(), out.begin(), transformed);
  }
  void merge(std::span<const Int> a, std::span<const Int> b, std::span<Int> out) {
    std::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  }
  std::size_t partition(std::span<Int> items) {
    const auto rest = std::partition(items.begin(), items.end(), is_small);
    return static_cast<std::size_t>(rest - items.begin());
  }
  std::size_t find_if(std::span<const Int> in) {
    return static_cast<std::size_t>(std::find_if(in.begin(), in.end(), is_wanted) - in.begin());
  }
  std::size_t count_if(std::span<const Int> in) {
    return static_cast<std::size_t>(std::count_if(in.begin(), in.end(), is_small));
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Standard>(task); }

}  // namespace handoff::lab::algorithms
