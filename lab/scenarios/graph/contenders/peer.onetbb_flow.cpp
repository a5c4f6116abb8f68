// SPDX-License-Identifier: MIT
// oneTBB's flow graph of continue_nodes: each counts the messages of those before it, and counts
// anew with the next run.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "scenarios/graph/measure.hpp"

namespace handoff::lab::graph {
namespace {

class Flow {
 public:
  explicit Flow(std::size_t width)
      : threads_(tbb::global_control::max_allowed_parallelism, width),
        arena_(static_cast<int>(width), 1) {}

  class Graph {
   public:
    Graph(Flow& flow, Work& work) : arena_(flow.arena_) {
      arena_.execute([&] { graph_ = std::make_unique<tbb::flow::graph>(); });
      for (std::size_t i = 0; i < work.shape.nodes(); ++i) {
        Node& node = nodes_.emplace_back(
            *graph_, [&work, i](const tbb::flow::continue_msg&) { work.node(i); });
        const auto before = work.shape.before(i);
        if (before.empty()) roots_.push_back(&node);
        for (const std::uint32_t other : before) tbb::flow::make_edge(nodes_[other], node);
      }
    }
    void run() {
      arena_.execute([this] {
        for (Node* const root : roots_) root->try_put(tbb::flow::continue_msg());
        graph_->wait_for_all();
      });
    }

   private:
    using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

    tbb::task_arena& arena_;
    std::unique_ptr<tbb::flow::graph> graph_;  // it keeps to the arena that it was made in
    std::deque<Node> nodes_;
    std::vector<Node*> roots_;
  };

 private:
  tbb::global_control threads_;
  tbb::task_arena arena_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Flow>(task); }

}  // namespace handoff::lab::graph
