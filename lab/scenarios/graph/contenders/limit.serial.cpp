// SPDX-License-Identifier: MIT
// One thread walks the nodes in an order that is known beforehand.
#include "scenarios/graph/measure.hpp"

namespace handoff::lab::graph {
namespace {

struct Walk {
  explicit Walk(std::size_t /*width*/) {}
  struct Graph {
    Graph(Walk& /*way*/, Work& given) : work(given) {}
    void run() {
      for (std::size_t i = 0; i < work.shape.nodes(); ++i) work.node(i);
    }
    Work& work;
  };
};

}  // namespace

Operation contender(const Task& task) { return measure<Walk>(task); }

}  // namespace handoff::lab::graph
