// SPDX-License-Identifier: MIT
//
// The counter of a node's ranks: the scenarios of docs/design/rank_team.md.
#include <handoff/sync/internal/pause.hpp>

#include "explore/scenario.hpp"
#include "mpi/node_counter.hpp"

namespace node_counter_scenarios { namespace {

using namespace handoff;
using detail::BlockNumber;
using detail::NodeCounter;
using explore::check;
using explore::Thread;
using Said = NodeCounter::Said;
using namespace test;

// A node's two blocks, of one and of two of its own. `times`: how often each was claimed, of which
// a second claim would be a race, too.
struct Node {
  static std::uint64_t blocks_of(std::uint32_t number) noexcept {
    return number == NodeCounter::no_block ? 0 : 1 + number;
  }

  void claim_all() {
    for (BlockNumber number;;) {
      const Said said = counter.claim(number, blocks_of);
      if (said == Said::none_left) return;
      if (said == Said::claimed) {
        ++times[number.of_node][number.in_node];
      } else {
        sync::pause();
      }
    }
  }

  NodeCounter counter;
  int times[2][2] = {};
};

const Scenario each_once("node_counter/each_once", [] {
  Node node;
  node.counter.open(false);
  {
    Thread first([&] { node.claim_all(); });
    Thread second([&] { node.claim_all(); });
    std::uint32_t last = NodeCounter::no_block;
    for (const std::uint32_t next : {0U, 1U}) {
      while (!node.counter.is_wanted(last)) sync::pause();
      node.counter.lay_out(last = next);
    }
    while (!node.counter.is_wanted(last)) sync::pause();
    node.counter.lay_out_end();
    first.join();
    second.join();
  }
  check(node.times[0][0] == 1 && node.times[1][0] == 1 && node.times[1][1] == 1,
        "each block is claimed once");
});

}}  // namespace node_counter_scenarios
