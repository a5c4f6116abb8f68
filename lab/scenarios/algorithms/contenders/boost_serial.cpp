// SPDX-License-Identifier: MIT
// Boost's sorts on one thread.
#include <string>

#include <boost/sort/flat_stable_sort/flat_stable_sort.hpp>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <boost/sort/spinsort/spinsort.hpp>
#include <boost/sort/spreadsort/spreadsort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

struct Serial {
  explicit Serial(std::size_t /*width*/) {}
};

struct PdqSort : Serial {
  using Serial::Serial;
  void sort(std::span<Int> items) { boost::sort::pdqsort_branchless(items.begin(), items.end()); }
  void sort(std::span<std::string> items) { boost::sort::pdqsort(items.begin(), items.end()); }
  void sort(std::span<Record> items) {
    boost::sort::pdqsort_branchless(items.begin(), items.end(), ByKey());
  }
};

struct SpreadSort : Serial {
  using Serial::Serial;
  void sort(std::span<Int> items) {
    boost::sort::spreadsort::integer_sort(items.begin(), items.end());
  }
  void sort(std::span<std::string> items) {
    boost::sort::spreadsort::string_sort(items.begin(), items.end());
  }
  void sort(std::span<Record> items) {
    const auto shifted = [](const Record& item, unsigned bits) { return item.key >> bits; };
    boost::sort::spreadsort::integer_sort(items.begin(), items.end(), shifted, ByKey());
  }
};

struct SpinSort : Serial {
  using Serial::Serial;
  template <class T>
  void stable_sort(std::span<T> items) {
    boost::sort::spinsort(items.begin(), items.end(), Below<T>());
  }
};

struct FlatStableSort : Serial {
  using Serial::Serial;
  template <class T>
  void stable_sort(std::span<T> items) {
    boost::sort::flat_stable_sort(items.begin(), items.end(), Below<T>());
  }
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"limit.boost_pdqsort", measure<PdqSort>},
       {"limit.boost_spreadsort", measure<SpreadSort>},
       {"limit.boost_spinsort", measure<SpinSort>},
       {"limit.boost_flat_stable_sort", measure<FlatStableSort>}})(task);
}

}  // namespace handoff::lab::algorithms
