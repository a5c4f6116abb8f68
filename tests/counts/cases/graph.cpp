// SPDX-License-Identifier: MIT
//
// What a run of a TaskGraph costs, and a node in it.
#include <handoff/core/inline_executor.hpp>
#include <handoff/graph/task_graph.hpp>

#include <vector>

#include "counts/case.hpp"

using namespace handoff::counts;

namespace {

constexpr int kNodes = 64;

HANDOFF_COUNT_CASE(task_graph) {
  handoff::InlineExecutor here;
  handoff::TaskGraph one;
  one.add("one", [] {});
  handoff::TaskGraph chain;
  handoff::TaskGraph fan;
  handoff::GraphNode<void> last = chain.add("first", [] {});
  const auto first = fan.add("first", [] {});
  const auto end = fan.add("end", [] {});
  for (int i = 1; i < kNodes; ++i) {
    last = chain.add("node", [] {}, last);
    fan.add("node", [] {}, first).before(end);
  }
  rounds([&](bool counts) {
    note("TaskGraph.run/one node", counts, [&] { one.run(here); });
    {
      const Counted counted("TaskGraph.run/a node of a chain of 64", counts, kNodes);
      chain.run(here);
    }
    const Counted counted("TaskGraph.run/a node of 63 beside each other", counts, kNodes);
    fan.run(here);
  });
}

}  // namespace
