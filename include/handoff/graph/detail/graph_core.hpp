// SPDX-License-Identifier: MIT
//
// The inside of a TaskGraph: its nodes, its edges, and the runs that are kept for the next time.
// Not for users.
//
// The graph and each GraphRun hold it by a count: so a run goes on when its graph is moved or
// destroyed.
// Concurrency: any thread; a mutex guards all but the count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/graph/detail/graph_plan.hpp>
#include <handoff/graph/detail/graph_run.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class GraphCore;

// A node as it was added.
struct GraphNodeRecord {
  struct Value {
    std::size_t bytes = 0;
    std::size_t alignment = 1;
    bool is_copyable = true;
    void (*destroy)(void* value) noexcept = nullptr;
  };
  struct Input {
    NodeId id = no_node;
    bool is_read = false;  // its value; else it is only waited for
    bool is_taken = false;  // by a parameter that is no const reference
  };

  std::string name;
  void (*call)(void* closure, NodeContext& here) noexcept = nullptr;
  std::unique_ptr<void, void (*)(void*) noexcept> closure{nullptr, nullptr};
  Value value;
  std::vector<Input> inputs;
  std::vector<NodeId> after;  // what it waits for besides
  std::vector<NodeId> choices;
  std::uint32_t readers = 0;
  std::uint32_t retries = 0;
  std::uint32_t place = 0;  // in an order in which each edge points up
  std::vector<GraphLimit*> limits;  // by their addresses
  const GraphCore* part = nullptr;  // what it runs; its closure keeps it
  Priority priority = Priority::normal;
  bool is_taken = false;  // its value, which cannot be copied
  bool is_chosen = false;  // by a condition, so it does not begin by itself
};

class GraphCore {
 public:
  GraphCore() noexcept : refs_(1) {}
  GraphCore(const GraphCore&) = delete;
  GraphCore& operator=(const GraphCore&) = delete;
  void retain() noexcept;
  void release() noexcept;

  // Throws std::bad_alloc; misuse, where a value would have to be moved twice.
  NodeId add(GraphNodeRecord record);
  // Misuse if that closes a cycle.
  void add_edge(NodeId before, NodeId after);
  void add_choice(NodeId condition, NodeId choice);
  // Whether it is this graph, or a part of it, or of its parts.
  bool runs(const GraphCore& core) const;
  void set_retries(NodeId id, std::uint32_t times);
  void add_limit(NodeId id, GraphLimit& limit);
  template <class Change>
  void change(NodeId id, Change&& how) {
    const sync::Lock lock(mutex_);
    const sync::Turn turn(&mutex_);
    how(*records_[id]);
    plan_ = nullptr;
  }
  std::size_t size() const noexcept;
  std::string to_dot() const;

  // A run to begin in; throws std::bad_alloc. And back, when it has been settled.
  GraphExecution& take(const GraphHost& host);
  void give_back(GraphExecution& run) noexcept;

 private:
  ~GraphCore();

  Plan& make_plan();
  void find_sources(Plan& plan) const;
  void drop_old_runs() noexcept;
  void check_readers(const GraphNodeRecord& node) const;
  std::vector<bool> critical_path(const NodeTimes* times) const;
  std::string path_back(NodeId from, NodeId to) const;
  void order_anew();
  template <class Call>
  void for_each_before(NodeId id, Call&& call) const {
    for (const auto& input : records_[id]->inputs) call(input.id);
    for (const NodeId before : records_[id]->after) call(before);
  }

  mutable sync::Mutex mutex_;
  std::vector<std::unique_ptr<GraphNodeRecord>> records_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<GraphExecution*> kept_;  // not running, the one that ran last at the end
  Plan* plan_ = nullptr;  // of plans_; null: changed since
  sync::atomic<std::size_t> refs_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
