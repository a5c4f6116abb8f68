// SPDX-License-Identifier: MIT
// std::for_each with std::execution::par, which g++'s library hands to oneTBB, over the indices.
#include <execution>

#include <tbb/global_control.h>

#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {
namespace {

// An index as an iterator: those of std::views::iota pass for input iterators among the parallel
// algorithms, which then run on one thread.
class Index {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::size_t*;
  using reference = std::size_t;

  explicit Index(std::size_t value) : value_(value) {}
  std::size_t operator*() const { return value_; }
  Index& operator++() {
    ++value_;
    return *this;
  }
  Index operator+(difference_type n) const { return Index(value_ + static_cast<std::size_t>(n)); }
  difference_type operator-(Index other) const {
    return static_cast<difference_type>(value_ - other.value_);
  }
  auto operator<=>(const Index&) const = default;

 private:
  std::size_t value_;
};

class ForEach {
 public:
  explicit ForEach(std::size_t width)
      : threads_(tbb::global_control::max_allowed_parallelism, width) {}

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    std::for_each(std::execution::par, Index(0), Index(count), [&body](std::size_t i) { body(i); });
  }

 private:
  tbb::global_control threads_;
};

}  // namespace

Operation contender(const Task& task) { return measure<ForEach>(task); }

}  // namespace handoff::lab::grain
