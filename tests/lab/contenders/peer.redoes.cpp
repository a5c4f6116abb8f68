// SPDX-License-Identifier: MIT
// Every piece on the spot, but the seventh twice in place of the eighth.
#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

struct Redoes {
  explicit Redoes(std::size_t /*width*/) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) {
      body(i == 7 ? 6 : i);
    }
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Redoes>(task); }

}  // namespace handoff::lab::loads
