// SPDX-License-Identifier: MIT
// Every piece on the spot, but for the eighth of each loop.
#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

struct Misses {
  explicit Misses(std::size_t /*width*/) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 7) body(i);
    }
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Misses>(task); }

}  // namespace handoff::lab::loads
