// SPDX-License-Identifier: MIT
//
// How many nodes that need the same thing run at once: a device, a licence, memory.
//
//   handoff::GraphLimit gpu(2);
//   graph.add("render", render, scene).uses(gpu);
//
// A node that is ready waits for its turn without a thread: that runs other nodes meanwhile. Nodes
// of several graphs and runs may share a limit; it outlives them. First come, first served. A node
// that waits does not hear of cancel() or `until`: it is left out, and its run ends, at its turn.
// A node must not run a graph that has a node of the same limit: that may wait for ever.
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

 private:
  sync::Mutex mutex_;
  std::size_t free_;
  detail::ParkedNode* first_ = nullptr;  // those that wait
  detail::ParkedNode* last_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI
