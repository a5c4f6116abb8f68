// SPDX-License-Identifier: MIT
// Boost's block_indirect_sort, whose threads each call starts.
#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>

#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class BlockIndirect {
 public:
  explicit BlockIndirect(std::size_t width) : threads_(static_cast<std::uint32_t>(width)) {}

  template <class T>
  void sort(std::span<T> items) {
    boost::sort::block_indirect_sort(items.begin(), items.end(), Below<T>(), threads_);
  }

 private:
  std::uint32_t threads_;
};

}  // namespace

Operation contender(const Task& task) { return measure<BlockIndirect>(task); }

}  // namespace handoff::lab::algorithms
