// SPDX-License-Identifier: MIT
// The same recursion in plain calls: the work without any fork.
#include "scenarios/forkjoin/measure.hpp"

namespace handoff::lab::forkjoin {
namespace {

struct Calls : Serial {
  explicit Calls(std::size_t /*width*/) {}
  template <class F>
  void enter(const F& root) {
    root();
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Calls>(task); }

}  // namespace handoff::lab::forkjoin
