// SPDX-License-Identifier: MIT
// oneTBB, in an arena of `width` threads, the caller included.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class OneTbb {
 public:
  explicit OneTbb(std::size_t width)
      : threads_(tbb::global_control::max_allowed_parallelism, width),
        arena_(static_cast<int>(width), 1) {}

  template <class T>
  void sort(std::span<T> items) {
    arena_.execute([&] { tbb::parallel_sort(items.begin(), items.end(), Below<T>()); });
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    arena_.execute([&] {
      const auto body = [&](const Range& range, Int sum, bool is_final) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          sum += in[i];
          if (is_final) out[i] = sum;
        }
        return sum;
      };
      tbb::parallel_scan(Range(0, in.size()), Int{}, body, std::plus<>());
    });
  }
  Int reduce(std::span<const Int> in) {
    return arena_.execute([&] {
      const auto body = [&](const Range& range, Int sum) {
        return std::reduce(&in[range.begin()], in.data() + range.end(), sum);
      };
      return tbb::parallel_reduce(Range(0, in.size()), Int{}, body, std::plus<>());
    });
  }

 private:
  using Range = tbb::blocked_range<std::size_t>;

  tbb::global_control threads_;
  tbb::task_arena arena_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OneTbb>(task); }

}  // namespace handoff::lab::algorithms
