// SPDX-License-Identifier: MIT
// Boost's stable sorts on several threads, which each call starts.
#include <boost/sort/parallel_stable_sort/parallel_stable_sort.hpp>
#include <boost/sort/sample_sort/sample_sort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

constexpr auto sample_sort = []<class T>(std::span<T> items, std::uint32_t threads) {
  boost::sort::sample_sort(items.begin(), items.end(), Below<T>(), threads);
};

// That of Boost 1.74 moves into memory where no items are: strings crash.
constexpr auto parallel_stable_sort = []<class T>(std::span<T> items, std::uint32_t threads)
  requires std::is_trivially_copyable_v<T>
{ boost::sort::parallel_stable_sort(items.begin(), items.end(), Below<T>(), threads); };

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.boost_sample_sort", measure<StableSort<sample_sort>>},
       {"peer.boost_parallel_stable_sort", measure<StableSort<parallel_stable_sort>>}})(task);
}

}  // namespace handoff::lab::algorithms
