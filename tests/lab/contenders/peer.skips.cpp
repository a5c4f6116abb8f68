// SPDX-License-Identifier: MIT
// For tests: a loop without its eighth item.
#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {
namespace {

struct Skips {
  explicit Skips(std::size_t /*width*/) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 7) body(i);
    }
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Skips>(task); }

}  // namespace handoff::lab::grain
