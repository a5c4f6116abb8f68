// SPDX-License-Identifier: MIT
// A TaskGraph on a pool. The caller works with the pool's threads.
#include <handoff/graph/task_graph.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/graph/measure.hpp"

namespace handoff::lab::graph {
namespace {

class OnPool {
 public:
  explicit OnPool(std::size_t width) : pool_({.width = std::max<std::size_t>(width - 1, 1)}) {}

  class Graph {
   public:
    Graph(OnPool& way, Work& work) : pool_(way.pool_) {
      std::vector<GraphNode<void>> nodes;
      for (std::size_t i = 0; i < work.shape.nodes(); ++i) {
        nodes.push_back(graph_.add("node", [&work, i] { work.node(i); }));
        for (const std::uint32_t other : work.shape.before(i)) nodes[i].after(nodes[other]);
      }
    }
    void run() { graph_.run(pool_); }

   private:
    ThreadPool& pool_;
    TaskGraph graph_;
  };

 private:
  ThreadPool pool_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OnPool>(task); }

}  // namespace handoff::lab::graph
