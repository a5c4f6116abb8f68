// SPDX-License-Identifier: MIT
// Boost's sorts on one thread.
#include <boost/sort/flat_stable_sort/flat_stable_sort.hpp>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <boost/sort/spinsort/spinsort.hpp>
#include <boost/sort/spreadsort/spreadsort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

constexpr auto pdqsort = []<class T>(std::span<T> items, std::uint32_t) {
  if constexpr (std::is_same_v<T, std::string>) {
    boost::sort::pdqsort(items.begin(), items.end());
  } else {
    boost::sort::pdqsort_branchless(items.begin(), items.end(), Below<T>());
  }
};

constexpr auto spreadsort = []<class T>(std::span<T> items, std::uint32_t) {
  if constexpr (std::is_same_v<T, Record>) {
    const auto shifted = [](const Record& item, unsigned bits) { return item.key >> bits; };
    boost::sort::spreadsort::integer_sort(items.begin(), items.end(), shifted, ByKey());
  } else {
    boost::sort::spreadsort::spreadsort(items.begin(), items.end());
  }
};

constexpr auto spinsort = []<class T>(std::span<T> items, std::uint32_t) {
  boost::sort::spinsort(items.begin(), items.end(), Below<T>());
};

constexpr auto flat_stable_sort = []<class T>(std::span<T> items, std::uint32_t) {
  boost::sort::flat_stable_sort(items.begin(), items.end(), Below<T>());
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"limit.boost_pdqsort", measure<Sort<pdqsort>>},
       {"limit.boost_spreadsort", measure<Sort<spreadsort>>},
       {"limit.boost_spinsort", measure<StableSort<spinsort>>},
       {"limit.boost_flat_stable_sort", measure<StableSort<flat_stable_sort>>}})(task);
}

}  // namespace handoff::lab::algorithms
