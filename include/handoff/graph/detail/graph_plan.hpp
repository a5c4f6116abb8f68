// SPDX-License-Identifier: MIT
//
// What a run of a TaskGraph needs to know of its nodes, in flat arrays by the order in which they
// were added. Made from the graph when a run begins that finds it changed, and never changed again:
// so runs that are going on keep theirs while nodes are added. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/priority.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class GraphLimit;
class NodeContext;

namespace detail {

using NodeId = std::uint32_t;
inline constexpr NodeId no_node = ~NodeId{0};

// How a node is called, and what there is to do besides: one load tells that it is nothing.
struct PlannedNode {
  static constexpr std::uint32_t kReads = 1;  // values of others
  static constexpr std::uint32_t kChooses = 2;  // which of its choices runs
  static constexpr std::uint32_t kLimited = 4;  // by GraphLimits
  static constexpr std::uint32_t kRetries = 8;
  static constexpr std::uint32_t kListed = 16;  // goes through the lists of priorities

  void (*call)(void* closure, NodeContext& here) noexcept = nullptr;
  void* closure = nullptr;
  std::uint32_t first = 0;  // of its successors, in Plan::successors
  std::uint32_t last = 0;
  std::uint32_t missing = 0;  // how many nodes must have ended before it begins
  std::uint32_t flags = 0;
};

// The rest, which most steps do without.
struct NodeDetails {
  const char* name = "";
  void (*destroy_value)(void* value) noexcept = nullptr;  // null: nothing to do
  std::size_t value_at = 0;  // in the values of a run
  std::uint32_t first_input = 0;  // in Plan::inputs
  std::uint32_t last_input = 0;
  std::uint32_t first_choice = 0;  // in Plan::choices
  std::uint32_t last_choice = 0;
  std::uint32_t first_limit = 0;  // in Plan::limits
  std::uint32_t last_limit = 0;
  std::uint32_t readers = 0;  // of its value
  std::uint32_t retries = 0;
  Priority priority = Priority::normal;
};

struct Plan {
  std::vector<PlannedNode> nodes;
  std::vector<NodeDetails> details;
  std::vector<NodeId> successors;
  // They wait for none, and no condition chooses them. Those with a priority come first.
  std::vector<NodeId> sources;
  std::vector<NodeId> inputs;
  std::vector<NodeId> choices;
  std::vector<GraphLimit*> limits;  // each node's by their addresses (GR-6)
  std::size_t value_bytes = 0;
  std::size_t value_alignment = 1;
  std::uint32_t listed_sources = 0;  // how many have a priority
  bool is_listed = false;  // a node has a priority
  bool has_choices = false;
  bool has_values = false;  // one that has to be destroyed, or marked as gone
  std::uint32_t users = 0;  // runs made of it; guarded by the graph's mutex
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
