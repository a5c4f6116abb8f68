// SPDX-License-Identifier: MIT
// Boost's block_indirect_sort, whose threads each call starts.
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

constexpr auto sort = []<class T>(std::span<T> items, std::uint32_t threads) {
  boost::sort::block_indirect_sort(items.begin(), items.end(), Below<T>(), threads);
};

}  // namespace

Operation contender(const Task& task) { return measure<Sort<sort>>(task); }

}  // namespace handoff::lab::algorithms
