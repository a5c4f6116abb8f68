// SPDX-License-Identifier: MIT
//
// What a node knows of the run that called it: its first parameter, if it takes one.
//
//   graph.add("search", [](handoff::NodeContext& here, const Space& parts) {
//     for (const Part& part : parts) {
//       if (here.stop_requested()) return;                       // until is over, or cancel()
//       here.add("part", [&part](handoff::NodeContext&) { look_at(part); });
//     }
//   }, space);
//
// Concurrency: the node's, while it runs. Allocates: add(), once or twice. Blocks: run().
#pragma once

#include <cstddef>
#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/graph/detail/graph_run.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class TaskGraph;

class NodeContext {
 public:
  NodeContext(const NodeContext&) = delete;
  NodeContext& operator=(const NodeContext&) = delete;

  // Whether the run is to end early: what has not begun will not.
  [[nodiscard]] bool stop_requested() const noexcept { return run_.is_stopped(); }

  // What the node is called.
  [[nodiscard]] const char* name() const noexcept {
    return name_ != nullptr ? name_ : run_.plan().details[id_].name;
  }

  // Runs a graph, made here or before, on the executor of this run: it stops with it. Until it has
  // ended; meanwhile this thread works on it. Rethrows its first failure, so this node fails; the
  // names of the part's nodes that threw come to GraphOptions::on_error.
  Tally run(TaskGraph& part);

  // One node more in this run, which ends after it. function() or function(NodeContext&) may begin
  // before this call returns. `name`: a literal, or what outlives the run.
  template <class F>
  void add(const char* name, F&& function) {
    if constexpr (std::is_invocable_v<std::decay_t<F>&>) {
      run_.add(name, [own = std::decay_t<F>(std::forward<F>(function))](NodeContext&) mutable {
        detail::call_and_drop(own);
      });
    } else {
      run_.add(name, std::forward<F>(function));
    }
  }

 private:
  friend class detail::GraphExecution;
  friend class detail::GraphPart;
  template <class, class...>
  friend struct detail::NodeClosure;
  template <class, bool>
  friend class detail::NodeInput;

  NodeContext(detail::GraphExecution& run, detail::NodeId id, const char* name = nullptr) noexcept
      : run_(run), id_(id), name_(name) {}

  Tally run_core(detail::GraphCore& core);

  // What it threw is being handled.
  void fail() noexcept {
    has_failed_ = true;
    if (is_last_try_) run_.note_failure(name());
  }

  detail::GraphExecution& run_;
  const detail::NodeId id_;
  bool is_last_try_ = true;
  bool has_failed_ = false;
  std::size_t chosen_ = 0;
  const char* name_;
};

}}  // namespace handoff::HANDOFF_ABI
