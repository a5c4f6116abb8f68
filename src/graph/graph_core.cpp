// SPDX-License-Identifier: MIT
//
// The nodes and edges of a graph, the plan that its runs follow, and the runs that it keeps.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/graph/detail/graph_core.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void GraphCore::retain() noexcept {
  refs_.fetch_add(1, sync::order::relaxed);  // order: relaxed, by a holder
}
void GraphCore::release() noexcept {
  sync::tell_given(this);
  // order: acq_rel, each release pairs with the acquire of the last one, which ends it.
  if (refs_.fetch_sub(1, sync::order::acq_rel) != 1) return;
  sync::tell_taken(this);
  delete this;
}

GraphCore::~GraphCore() {
  for (GraphExecution* const run : kept_) run->release();
}

// A value that cannot be copied has one reader, if that takes it.
void GraphCore::check_readers(const GraphNodeRecord& node) const {
  for (const GraphNodeRecord::Input& input : node.inputs) {
    if (!input.is_read) continue;
    const GraphNodeRecord& from = *records_[input.id];
    const auto readers = std::count_if(
        node.inputs.begin(), node.inputs.end(),
        [&input](const auto& other) { return other.id == input.id && other.is_read; });
    const bool moves = input.is_taken && !from.value.is_copyable;
    if (from.is_taken || (moves && (from.readers != 0 || readers > 1))) {
      misuse(("TaskGraph: \"" + node.name + "\" is a second reader of what \"" + from.name +
              "\" returns, which is moved and cannot be copied; let all take a const reference")
                 .c_str());
    }
  }
}

NodeId GraphCore::add(GraphNodeRecord record) {
  const sync::SeenLock lock(mutex_);
  check_readers(record);
  const auto id = static_cast<NodeId>(records_.size());
  record.place = id;
  records_.push_back(std::make_unique<GraphNodeRecord>(std::move(record)));
  for (const GraphNodeRecord::Input& input : records_.back()->inputs) {
    if (!input.is_read) continue;
    GraphNodeRecord& from = *records_[input.id];
    ++from.readers;
    if (input.is_taken && !from.value.is_copyable) from.is_taken = true;
  }
  plan_ = nullptr;
  return id;
}

// Most edges point from an earlier node to a later one: those cannot close a cycle. Another one may
// stand only if the nodes can be put into a new order.
void GraphCore::add_edge(NodeId before, NodeId after) {
  const sync::SeenLock lock(mutex_);
  const bool points_up = records_[before]->place < records_[after]->place;
  if (!points_up) {
    const std::string path = path_back(before, after);
    if (!path.empty()) {
      misuse(("TaskGraph: this edge closes a cycle: " + path +
              "; a loop goes through a condition, chooses()")
                 .c_str());
    }
  }
  records_[after]->after.push_back(before);
  plan_ = nullptr;
  if (points_up) return;
  call_or([this] { order_anew(); }, [&]() noexcept { records_[after]->after.pop_back(); });
}

// The names on a way to `from`, beginning and ending there, by an edge from `from` to `to`; empty:
// there is none.
std::string GraphCore::path_back(NodeId from, NodeId to) const {
  std::vector<NodeId> reached_from(records_.size(), no_node);  // the one behind it on the way
  std::vector<NodeId> open{from};
  reached_from[from] = from;
  while (!open.empty() && reached_from[to] == no_node) {
    const NodeId id = open.back();
    open.pop_back();
    for_each_before(id, [&](NodeId before) {
      if (reached_from[before] != no_node) return;
      reached_from[before] = id;
      open.push_back(before);
    });
  }
  if (reached_from[to] == no_node) return {};
  std::string path = records_[from]->name;
  for (NodeId id = to; id != from; id = reached_from[id]) path += " -> " + records_[id]->name;
  return path + " -> " + records_[from]->name;
}

// Gives places so that each edge points up.
void GraphCore::order_anew() {
  std::vector<std::uint32_t> later(records_.size(), 0);
  for (NodeId id = 0; id < records_.size(); ++id) {
    for_each_before(id, [&](NodeId before) { ++later[before]; });
  }
  std::vector<NodeId> last;
  for (auto id = static_cast<NodeId>(records_.size()); id-- > 0;) {
    if (later[id] == 0) last.push_back(id);
  }
  for (auto place = static_cast<std::uint32_t>(records_.size()); !last.empty();) {
    const NodeId id = last.back();
    last.pop_back();
    records_[id]->place = --place;
    for_each_before(id, [&](NodeId before) {
      if (--later[before] == 0) last.push_back(before);
    });
  }
}

void GraphCore::add_choice(NodeId condition, NodeId choice) {
  const sync::SeenLock lock(mutex_);
  records_[condition]->choices.push_back(choice);
  records_[choice]->is_chosen = true;
  plan_ = nullptr;
}

void GraphCore::set_retries(NodeId id, std::uint32_t times) {
  const sync::SeenLock lock(mutex_);
  GraphNodeRecord& node = *records_[id];
  for (const GraphNodeRecord::Input& input : node.inputs) {
    if (times != 0 && input.is_taken && !records_[input.id]->value.is_copyable) {
      misuse(("TaskGraph: \"" + node.name + "\" cannot be retried: what \"" +
              records_[input.id]->name + "\" returns is moved into it and cannot be copied")
                 .c_str());
    }
  }
  node.retries = times;
  plan_ = nullptr;
}

void GraphCore::add_limit(NodeId id, GraphLimit& limit) {
  change(id, [&limit](GraphNodeRecord& node) {
    auto& all = node.limits;
    const auto at = std::lower_bound(all.begin(), all.end(), &limit, std::less<>());
    if (at == all.end() || *at != &limit) all.insert(at, &limit);
  });
}

// No cycle of locks, as there is none of parts.
bool GraphCore::runs(const GraphCore& core) const {
  if (this == &core) return true;
  const sync::Lock lock(mutex_);
  return std::any_of(records_.begin(), records_.end(), [&core](const auto& record) {
    return record->part != nullptr && record->part->runs(core);
  });
}

std::size_t GraphCore::size() const noexcept {
  const sync::Lock lock(mutex_);
  return records_.size();
}

namespace {

void describe(Plan& plan, const GraphNodeRecord& record) {
  PlannedNode node;
  NodeDetails details;
  node.call = record.call;
  node.closure = record.closure.get();
  details.name = record.name.c_str();
  details.readers = record.readers;
  details.priority = record.priority;
  details.first_input = static_cast<std::uint32_t>(plan.inputs.size());
  for (const auto& input : record.inputs) {
    if (input.is_read) plan.inputs.push_back(input.id);
  }
  details.last_input = static_cast<std::uint32_t>(plan.inputs.size());
  if (details.first_input != details.last_input) node.flags |= PlannedNode::kReads;
  details.first_choice = static_cast<std::uint32_t>(plan.choices.size());
  plan.choices.insert(plan.choices.end(), record.choices.begin(), record.choices.end());
  details.last_choice = static_cast<std::uint32_t>(plan.choices.size());
  if (!record.choices.empty()) node.flags |= PlannedNode::kChooses;
  if (record.value.destroy != nullptr) {
    plan.has_values = true;
    plan.value_alignment = std::max(plan.value_alignment, record.value.alignment);
    plan.value_bytes = (plan.value_bytes + record.value.alignment - 1) / record.value.alignment *
                       record.value.alignment;
    details.value_at = plan.value_bytes;
    details.destroy_value = record.value.destroy;
    plan.value_bytes += record.value.bytes;
  }
  details.first_limit = static_cast<std::uint32_t>(plan.limits.size());
  plan.limits.insert(plan.limits.end(), record.limits.begin(), record.limits.end());
  details.last_limit = static_cast<std::uint32_t>(plan.limits.size());
  if (!record.limits.empty()) node.flags |= PlannedNode::kLimited;
  if ((details.retries = record.retries) != 0) node.flags |= PlannedNode::kRetries;
  if (record.priority != Priority::normal) node.flags |= PlannedNode::kListed;
  plan.is_listed = plan.is_listed || record.priority != Priority::normal;
  plan.has_choices = plan.has_choices || !record.choices.empty();
  plan.nodes.push_back(node);
  plan.details.push_back(details);
}

}  // namespace

// Successors lie side by side, in the order of the nodes that they are of.
Plan& GraphCore::make_plan() {
  sync::tell_taken(&mutex_);  // what was added, and the memory of plans
  drop_old_runs();
  auto plan = std::make_unique<Plan>();
  plan->nodes.reserve(records_.size());
  plan->details.reserve(records_.size());
  for (const auto& record : records_) describe(*plan, *record);
  for (NodeId id = 0; id < records_.size(); ++id) {
    for_each_before(id, [&](NodeId before) {
      ++plan->nodes[before].last;
      ++plan->nodes[id].missing;
    });
  }
  std::uint32_t edges = 0;
  for (PlannedNode& node : plan->nodes) {
    node.first = edges;
    edges += std::exchange(node.last, edges);
  }
  plan->successors.resize(edges);
  for (NodeId id = 0; id < records_.size(); ++id) {
    for_each_before(id, [&](NodeId before) { plan->successors[plan->nodes[before].last++] = id; });
  }
  find_sources(*plan);
  if (plan->sources.empty() && !records_.empty()) {
    misuse("TaskGraph: no node begins by itself; let one wait for nothing, and be no choice");
  }
  plans_.push_back(std::move(plan));
  sync::tell_given(&mutex_);
  return *(plan_ = plans_.back().get());
}

void GraphCore::find_sources(Plan& plan) const {
  for (const std::uint32_t listed : {PlannedNode::kListed, 0U}) {
    for (NodeId id = 0; id < records_.size(); ++id) {
      const PlannedNode& node = plan.nodes[id];
      const bool is_source = node.missing == 0 && !records_[id]->is_chosen;
      if (is_source && (node.flags & PlannedNode::kListed) == listed) plan.sources.push_back(id);
    }
    if (listed != 0) plan.listed_sources = static_cast<std::uint32_t>(plan.sources.size());
  }
}

// Of plans that are no longer true. What runs now keeps its plan.
void GraphCore::drop_old_runs() noexcept {
  for (GraphExecution* const run : std::exchange(kept_, {})) {
    --run->plan().users;
    run->release();
  }
  std::erase_if(plans_, [](const auto& plan) { return plan->users == 0; });
}

GraphExecution& GraphCore::take(const GraphHost& host) {
  const sync::Lock lock(mutex_);
  Plan& plan = plan_ != nullptr ? *plan_ : make_plan();
  for (auto run = kept_.end(); run != kept_.begin();) {
    if (!(*--run)->is_for(host)) continue;
    GraphExecution& taken = **run;
    kept_.erase(run);
    return taken;
  }
  sync::tell_taken(&mutex_);
  kept_.reserve(plan.users + 1);  // for give_back(), which must not throw
  sync::tell_given(&mutex_);
  return *GraphExecution::make(plan, host.width);
}

void GraphCore::give_back(GraphExecution& run) noexcept {
  run.destroy_values();
  run.options() = {};
  const sync::Lock lock(mutex_);
  if (&run.plan() == plan_) return kept_.push_back(&run);
  Plan& old = run.plan();
  run.release();
  sync::tell_taken(&mutex_);
  if (--old.users == 0) {
    std::erase_if(plans_, [&old](const auto& plan) { return plan.get() == &old; });
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
