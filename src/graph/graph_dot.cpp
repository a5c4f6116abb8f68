// SPDX-License-Identifier: MIT
//
// A graph in the language of Graphviz.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <handoff/graph/detail/graph_core.hpp>
#include <string>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

using Micros = std::chrono::duration<double, std::micro>;

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char each : name) {
    if (each == '"' || each == '\\') text += '\\';
    text += each;
  }
  return text;
}

double micros_of(const NodeTimes& times) { return Micros(times.ended - times.began).count(); }

}  // namespace

std::string GraphCore::to_dot() const {
  const sync::Lock lock(mutex_);
  const NodeTimes* const times =
      plan_ != nullptr && !kept_.empty() ? kept_.back()->times() : nullptr;
  const std::vector<bool> critical = critical_path(times);
  std::string text = "digraph TaskGraph {\n  rankdir=LR;\n  node [shape=box];\n";
  for (NodeId id = 0; id < records_.size(); ++id) {
    const GraphNodeRecord& node = *records_[id];
    text += "  n" + std::to_string(id) + " [label=" + quoted(node.name);
    if (times != nullptr) {
      const auto tenths = std::llround(micros_of(times[id]) * 10);
      text += "\\n" + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " us";
    }
    text += '"';
    if (!node.choices.empty()) text += ", shape=diamond";
    if (critical[id]) text += ", color=red, penwidth=2";
    text += "];\n";
  }
  const auto edge = [&text](NodeId from, NodeId to, const std::string& how) {
    text += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + how + ";\n";
  };
  for (NodeId id = 0; id < records_.size(); ++id) {
    for (const auto& input : records_[id]->inputs) {
      const bool is_critical = critical[input.id] && critical[id];
      edge(input.id, id, is_critical ? " [color=red]" : "");
    }
    for (const NodeId before : records_[id]->after) {
      const bool is_critical = critical[before] && critical[id];
      edge(before, id, is_critical ? " [style=dashed, color=red]" : " [style=dashed]");
    }
    for (std::size_t i = 0; i < records_[id]->choices.size(); ++i) {
      edge(id, records_[id]->choices[i], " [style=dotted, label=\"" + std::to_string(i) + "\"]");
    }
  }
  return text + "}\n";
}

// The nodes on the way that took longest, of those that each other waited for. Without times: none.
std::vector<bool> GraphCore::critical_path(const NodeTimes* times) const {
  std::vector<bool> critical(records_.size(), false);
  if (times == nullptr || records_.empty()) return critical;
  std::vector<NodeId> in_order(records_.size());
  for (NodeId id = 0; id < records_.size(); ++id) in_order[records_[id]->place] = id;
  std::vector<double> until_end(records_.size(), 0);
  std::vector<NodeId> comes_from(records_.size(), no_node);
  NodeId last = in_order.front();
  for (const NodeId id : in_order) {
    for_each_before(id, [&](NodeId before) {
      if (comes_from[id] != no_node && until_end[before] <= until_end[comes_from[id]]) return;
      comes_from[id] = before;
    });
    until_end[id] =
        micros_of(times[id]) + (comes_from[id] != no_node ? until_end[comes_from[id]] : 0);
    if (until_end[id] > until_end[last]) last = id;
  }
  for (NodeId id = last; id != no_node; id = comes_from[id]) critical[id] = true;
  return critical;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
