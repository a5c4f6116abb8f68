// SPDX-License-Identifier: MIT
// The standard's execution policies, which g++'s library hands to oneTBB.
#include <execution>

#include <tbb/global_control.h>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class StdPar {
 public:
  explicit StdPar(std::size_t width)
      : threads_(tbb::global_control::max_allowed_parallelism, width) {}

  template <class T>
  void sort(std::span<T> items) {
    std::sort(std::execution::par, items.begin(), items.end(), Below<T>());
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    std::stable_sort(std::execution::par, items.begin(), items.end(), Below<T>());
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    std::inclusive_scan(kPolicy, in.begin(), in.end(), out.begin());
  }
  Int reduce(std::span<const Int> in) { return std::reduce(kPolicy, in.begin(), in.end()); }
  void transform(std::span<const Int> in, std::span<Int> out) {
    std::transform(kPolicy, in.begin(), in.end(), out.begin(), transformed);
  }
  void merge(std::span<const Int> a, std::span<const Int> b, std::span<Int> out) {
    std::merge(std::execution::par, a.begin(), a.end(), b.begin(), b.end(), out.begin());
  }
  std::size_t partition(std::span<Int> items) {
    const auto rest = std::partition(std::execution::par, items.begin(), items.end(), is_small);
    return static_cast<std::size_t>(rest - items.begin());
  }
  std::size_t find_if(std::span<const Int> in) {
    const auto found = std::find_if(kPolicy, in.begin(), in.end(), is_wanted);
    return static_cast<std::size_t>(found - in.begin());
  }
  std::size_t count_if(std::span<const Int> in) {
    return static_cast<std::size_t>(std::count_if(kPolicy, in.begin(), in.end(), is_small));
  }

 private:
  static constexpr const auto& kPolicy = std::execution::par_unseq;
  tbb::global_control threads_;
};

}  // namespace

Operation contender(const Task& task) { return measure<StdPar>(task); }

}  // namespace handoff::lab::algorithms
