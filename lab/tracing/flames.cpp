// SPDX-License-Identifier: MIT
#include "tracing/flames.hpp"
#include "tracing/nesting.hpp"

namespace handoff::lab::tracing {
namespace {

constexpr std::uint32_t root = 0;

// Stacks that begin alike share their beginning.
class StackTree {
 public:
  static constexpr std::size_t most = 50'000;
  static constexpr std::size_t deepest = 200;

  StackTree() { nodes_.push_back({}); }

  // The node of that label in another one; where there are too many already, that one.
  std::uint32_t child(std::uint32_t parent, std::uint32_t label) {
    const std::uint64_t key = std::uint64_t{parent} << 32 | label;
    if (key == last_key_) return last_;
    auto found = children_.find(key);
    if (found == children_.end()) {
      if (nodes_.size() == most || nodes_[parent].depth == deepest) {
        ++merged_;
        return parent;
      }
      found = children_.emplace(key, static_cast<std::uint32_t>(nodes_.size())).first;
      nodes_.push_back({label, parent, nodes_[parent].depth + 1});
    }
    last_key_ = key;
    return last_ = found->second;
  }

  void add(std::uint32_t node, std::uint64_t own_ns, std::uint64_t count) {
    nodes_[node].own_ns += own_ns;
    nodes_[node].count += count;
  }

  // box(label, node) makes the name and the kind of one.
  template <class Label>
  void fill(FlameGraph& graph, Label box) {
    std::vector<std::vector<std::uint32_t>> inner(nodes_.size());
    for (Node& node : nodes_) node.ns = node.own_ns;
    for (std::size_t i = nodes_.size() - 1; i > 0; --i) {  // a parent comes before its children
      nodes_[nodes_[i].parent].ns += nodes_[i].ns;
      inner[nodes_[i].parent].push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<std::uint32_t> next{root};
    while (!next.empty()) {
      const std::uint32_t number = next.back();
      const Node& node = nodes_[number];
      next.pop_back();
      FlameBox one = box(node.label, number);
      one.depth = node.depth;
      one.ns = node.ns;
      one.own_ns = node.own_ns;
      one.count = node.count;
      graph.boxes.push_back(std::move(one));
      auto& within = inner[number];
      std::ranges::stable_sort(
          within, [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].ns < nodes_[b].ns; });
      next.insert(next.end(), within.begin(), within.end());
    }
    graph.merged = merged_;
  }

 private:
  struct Node {
    std::uint32_t label = 0;
    std::uint32_t parent = 0;
    std::size_t depth = 0;
    std::uint64_t own_ns = 0;
    std::uint64_t ns = 0;
    std::uint64_t count = 0;
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::uint64_t last_key_ = UINT64_MAX;
  std::uint32_t last_ = 0;
  std::uint64_t merged_ = 0;
};

constexpr std::uint32_t first_lane = Names::most;  // labels below it are names

FlameBox box_of(const Recording& recording, const std::vector<std::string>& lanes,
                std::uint32_t label, std::uint32_t node) {
  if (node == root) return {"all", "all"};
  if (label >= first_lane) return {lanes[label - first_lane], "thread"};
  const Names::Name& name = recording.names.at(label);
  return {name.text, name.category};
}

}  // namespace

FlameGraph on_cpu_flames(const Recording& recording) {
  FlameGraph graph{"On CPU", "on CPU", {}, 0};
  StackTree tree;
  for (const Lane& lane : recording.lanes) {
    nest(
        lane,
        [&](OpenSlice& slice, const OpenSlice* outer) {
          const std::uint32_t around = outer == nullptr ? root : outer->mark;
          const bool sleep = is_wait(recording.names.kind(slice.name));
          slice.mark = sleep ? around : tree.child(around, slice.name);
        },
        [&](const OpenSlice& slice) {
          if (!is_wait(recording.names.kind(slice.name))) tree.add(slice.mark, slice.own_ns, 1);
        });
  }
  tree.fill(graph, [&](std::uint32_t label, std::uint32_t node) {
    return box_of(recording, {}, label, node);
  });
  return graph;
}

FlameGraph off_cpu_flames(const Recording& recording) {
  FlameGraph graph{"Off CPU", "asleep", {}, 0};
  StackTree tree;
  const std::vector<std::string> lanes = recording.lane_names();
  for (std::uint32_t i = 0; i < recording.lanes.size(); ++i) {
    std::vector<std::uint32_t> stack;  // names of the slices of work that are open
    nest(
        recording.lanes[i],
        [&](OpenSlice& slice, const OpenSlice* /*outer*/) {
          if (!is_wait(recording.names.kind(slice.name))) stack.push_back(slice.name);
        },
        [&](const OpenSlice& slice) {
          if (!is_wait(recording.names.kind(slice.name))) {
            stack.pop_back();
            return;
          }
          std::uint32_t node = tree.child(root, first_lane + i);
          for (const std::uint32_t name : stack) node = tree.child(node, name);
          tree.add(tree.child(node, slice.name), slice.own_ns, 1);
        });
  }
  tree.fill(graph, [&](std::uint32_t label, std::uint32_t node) {
    return box_of(recording, lanes, label, node);
  });
  return graph;
}

}  // namespace handoff::lab::tracing
