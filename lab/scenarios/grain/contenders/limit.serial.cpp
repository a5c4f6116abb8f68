// SPDX-License-Identifier: MIT
// The loop on one thread, shared with nobody.
#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {
namespace {

struct Serial {
  explicit Serial(std::size_t /*width*/) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Serial>(task); }

}  // namespace handoff::lab::grain
