// SPDX-License-Identifier: MIT
// Boost's sorts on several threads, which each call starts.
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>
#include <boost/sort/parallel_stable_sort/parallel_stable_sort.hpp>
#include <boost/sort/sample_sort/sample_sort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

struct BlockIndirect {
  template <class T>
  void sort(std::span<T> items) {
    boost::sort::block_indirect_sort(items.begin(), items.end(), Below<T>(), threads);
  }
  std::uint32_t threads;
};

// Stable, too.
struct SampleSort {
  template <class T>
  void sort(std::span<T> items) {
    boost::sort::sample_sort(items.begin(), items.end(), Below<T>(), threads);
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    sort(items);
  }
  std::uint32_t threads;
};

struct ParallelStable {
  template <class T>
  void sort(std::span<T> items) {
    boost::sort::parallel_stable_sort(items.begin(), items.end(), Below<T>(), threads);
  }
  template <class T>
  void stable_sort(std::span<T> items) {
    sort(items);
  }
  std::uint32_t threads;
};

template <class Sort>
struct Boost : Sort {
  explicit Boost(std::size_t width) : Sort{static_cast<std::uint32_t>(width)} {}
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.boost_block_indirect_sort", measure<Boost<BlockIndirect>>},
       {"peer.boost_sample_sort", measure<Boost<SampleSort>>},
       {"peer.boost_parallel_stable_sort", measure<Boost<ParallelStable>>}})(task);
}

}  // namespace handoff::lab::algorithms
