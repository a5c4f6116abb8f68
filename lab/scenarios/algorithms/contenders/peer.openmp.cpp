// SPDX-License-Identifier: MIT
// OpenMP: its loops, and the parallel algorithms of g++'s library, which are made of it.
#include <parallel/algorithm>
#include <parallel/numeric>

#include <omp.h>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class OpenMp {
 public:
  explicit OpenMp(std::size_t width) { omp_set_num_threads(static_cast<int>(width)); }

  template <class T>
  void sort(std::span<T> items) {
    __gnu_parallel::sort(items.begin(), items.end(), Below<T>());
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    __gnu_parallel::stable_sort(items.begin(), items.end(), Below<T>());
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    __gnu_parallel::partial_sum(in.begin(), in.end(), out.begin());
  }
  Int reduce(std::span<const Int> in) {
    Int sum = 0;
#pragma omp parallel for simd reduction(+ : sum) if (in.size() >= kLeast)
    for (std::size_t i = 0; i < in.size(); ++i) sum += in[i];
    return sum;
  }
  void transform(std::span<const Int> in, std::span<Int> out) {
#pragma omp parallel for simd if (in.size() >= kLeast)
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = transformed(in[i]);
  }
  void merge(std::span<const Int> a, std::span<const Int> b, std::span<Int> out) {
    // It does not compile for iterators of constants, and writes to none of them.
    const auto begin_of = [](std::span<const Int> items) { return const_cast<Int*>(items.data()); };
    __gnu_parallel::merge(begin_of(a), begin_of(a) + a.size(), begin_of(b), begin_of(b) + b.size(),
                          out.begin());
  }
  std::size_t partition(std::span<Int> items) {
    const auto rest = __gnu_parallel::partition(items.begin(), items.end(), is_small);
    return static_cast<std::size_t>(rest - items.begin());
  }
  std::size_t find_if(std::span<const Int> in) {
    const auto found = __gnu_parallel::find_if(in.begin(), in.end(), is_wanted);
    return static_cast<std::size_t>(found - in.begin());
  }
  std::size_t count_if(std::span<const Int> in) {
    std::size_t count = 0;
#pragma omp parallel for simd reduction(+ : count) if (in.size() >= kLeast)
    for (std::size_t i = 0; i < in.size(); ++i) count += is_small(in[i]) ? 1 : 0;
    return count;
  }

 private:
  static constexpr std::size_t kLeast = 10'000;  // fewer are not worth its threads
};

}  // namespace

Operation contender(const Task& task) { return measure<OpenMp>(task); }

}  // namespace handoff::lab::algorithms
