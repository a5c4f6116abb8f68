// SPDX-License-Identifier: MIT
// Boost's stable sorts on several threads, which each call starts.
#include <boost/sort/parallel_stable_sort/parallel_stable_sort.hpp>
#include <boost/sort/sample_sort/sample_sort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class SampleSort {
 public:
  explicit SampleSort(std::size_t width) : threads_(static_cast<std::uint32_t>(width)) {}

  template <class T>
  void stable_sort(std::span<T> items) {
    boost::sort::sample_sort(items.begin(), items.end(), Below<T>(), threads_);
  }
  template <class T>
  void sort(std::span<T> items) {
    stable_sort(items);
  }

 private:
  std::uint32_t threads_;
};

class ParallelStable {
 public:
  explicit ParallelStable(std::size_t width) : threads_(static_cast<std::uint32_t>(width)) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void stable_sort(std::span<T> items) {
    boost::sort::parallel_stable_sort(items.begin(), items.end(), Below<T>(), threads_);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void sort(std::span<T> items) {
    stable_sort(items);
  }

 private:
  std::uint32_t threads_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.boost_sample_sort", measure<SampleSort>},
       {"peer.boost_parallel_stable_sort", measure<ParallelStable>}})(task);
}

}  // namespace handoff::lab::algorithms
