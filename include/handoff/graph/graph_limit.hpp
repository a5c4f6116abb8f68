// SPDX-License-Identifier: MIT
//
// How many nodes that need the same thing run at once: a device, a licence, memory.
//
//   handoff::GraphLimit gpu(2);  // before the graph: it outlives its runs
//   graph.add("render", render, scene).uses(gpu);
//
// A node that is ready waits for its turn without a thread: that runs other nodes meanwhile. Nodes
// of several graphs and runs may share a limit; it outlives the runs. First come, first served.
// A node with several limits takes a place of one after another, by their addresses, and keeps
// those that it has. cancel() and `until` take waiting nodes out of the queue. A node must not run
// a graph that has a node of the same limit: that is misuse, but start() does not notice it.
//
// Concurrency: thread-safe. Blocks: for a few instructions of others. Allocates, throws: never.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
struct ParkedNode;
}

class GraphLimit {
 public:
  // At least one; none is misuse.
  explicit GraphLimit(std::size_t most) : free_(most) {
    if (most == 0) misuse("GraphLimit: at least one node has to run");
  }
  GraphLimit(const GraphLimit&) = delete;
  GraphLimit& operator=(const GraphLimit&) = delete;

  // By a run. False: the node comes when it is its turn.
  bool enter(detail::ParkedNode& node) noexcept;
  void leave() noexcept;
  // By a run that has stopped. False: the node does not wait, or no longer.
  bool withdraw(detail::ParkedNode& node) noexcept;

 private:
  void unlink(detail::ParkedNode& node) noexcept;

  sync::Mutex mutex_;
  std::size_t free_;
  detail::ParkedNode* first_ = nullptr;  // those that wait
  detail::ParkedNode* last_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI
