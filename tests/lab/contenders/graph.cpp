// SPDX-License-Identifier: MIT
// Walks the nodes one after the other: in the wrong order, or all but the seventh.
#include "scenarios/graph/measure.hpp"

namespace handoff::lab::graph {
namespace {

template <bool hurries>
struct Liar {
  explicit Liar(std::size_t /*width*/) {}
  struct Graph {
    Graph(Liar& /*way*/, Work& given) : work(given) {}
    void run() {
      const std::size_t nodes = work.shape.nodes();
      for (std::size_t i = 0; i < nodes; ++i) {
        if (hurries || i != 7) work.node(hurries ? nodes - 1 - i : i);
      }
    }
    Work& work;
  };
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.hurries", measure<Liar<true>>}, {"peer.leaves_out", measure<Liar<false>>}})(task);
}

}  // namespace handoff::lab::graph
