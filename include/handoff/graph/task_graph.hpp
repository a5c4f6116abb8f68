// SPDX-License-Identifier: MIT
//
// Tasks that depend on each other: a graph that is made once, and run as often as wanted.
//
//   handoff::TaskGraph graph;
//   auto a = graph.add("load", [&] { return load(path); });            // GraphNode<Image>
//   auto b = graph.add("mask", [&] { return load(mask_path); });
//   auto c = graph.add("resize", resize, a, b);        // Image resize(Image, const Image&)
//   auto d = graph.add("save", [&](const Image& image) { save(image); }, c);
//   d.after(graph.add("make folder", make_folder));    // order only
//   graph.run(pool);                                   // any Executor; any number of times
//
// For: steps that are known before, with what each needs of others. Not for: tasks that make tasks
// (TaskGroup), loops (parallel_for), a chain for one result (Future::then), streams (Pipeline).
//
// - Values: a node gets what the nodes that it names returned. Who takes a const reference shares;
//   who takes a value or && gets it moved if it is the last reader, else copied. A value ends with
//   its last reader. That of a node that nobody reads stays: GraphRun::value(). A node that returns
//   void only orders. A call with `auto` parameters gets const references where it takes them.
// - Nodes: one object each, called by several runs at once. Its first parameter may be a
//   NodeContext&. chooses() makes a condition of a node; within a loop of conditions a node has
//   ended before it is come to again.
// - Concurrency: thread-safe. Each run has its own values. What is added while runs go on belongs
//   to later ones. A graph may be moved and destroyed while it runs: its GraphRuns go on.
// - Order: what came before run() happens before each node, a node before those that depend on it,
//   each node before wait() returns.
// - The calling thread works with the others, width() of them, so a run ends on any executor: also
//   on one that refuses, or never calls. start() leaves it to the executor; if that refuses, the
//   nodes run in start(). An executor's task works until it finds no node.
// - Blocks: run(), wait() and ~GraphRun, until the run has ended; in a task, they lend the thread.
// - Allocates: add(), and the first run; later ones nothing, unless more go on at a time.
// - Exceptions: what depends on a node that throws is cancelled, all else runs; run() rethrows the
//   first. on_error hears the names, GraphRun::failed_node() has the first one's.
// - Stop: until and cancel() leave out nodes that have not begun, also those that wait for a limit.
// - Tally: of the nodes. What no condition chose is not accepted. At rest it is exact.
// - Misuse: an edge that closes a cycle, named `a -> b -> a`; a graph that is a part of itself; a
//   node of another graph; a second reader of a value that is moved and cannot be copied; a graph
//   without a first node; a node that is chosen while a value that it reads is not there.
// Source: the greedy step (the first successor runs at once) is that of the Cilk-5 scheduler (1998)
// and of Nabbit (Agrawal, Leiserson, Sukha, 2010); conditions are Taskflow's (Huang et al., 2022).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/graph/detail/graph_core.hpp>
#include <handoff/graph/detail/graph_run.hpp>
#include <handoff/graph/detail/node_closure.hpp>
#include <handoff/graph/graph_limit.hpp>
#include <handoff/graph/graph_options.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class TaskGraph;

// A node of a graph, by its number: what others name as their input. Copied like an int; used while
// its graph is there. What the calls say holds for runs that begin later.
template <class T>
class GraphNode {
 public:
  using value_type = T;

  GraphNode() noexcept = default;  // of no graph

  // It begins when these have ended; or they when it has. Misuse if that closes a cycle.
  template <class... Others>
  const GraphNode& after(const GraphNode<Others>&... others) const {
    (core().add_edge(others.id_in(core_), id_), ...);
    return *this;
  }
  template <class... Others>
  const GraphNode& before(const GraphNode<Others>&... others) const {
    (core().add_edge(id_, others.id_in(core_)), ...);
    return *this;
  }

  // The node becomes a condition: what it returns is the index of the one of these that runs next;
  // of two, false is the first. Any other index: none. They may be nodes before it, too, for a
  // loop. One that is chosen begins at once, whatever else it waits for; by itself it does not
  // begin, unless it also waits for others.
  template <class... Choices>
  const GraphNode& chooses(const GraphNode<Choices>&... choices) const {
    static_assert(std::is_integral_v<T>, "a condition returns an index, or a bool");
    (core().add_choice(id_, choices.id_in(core_)), ...);
    return *this;
  }

  // Which of several that are ready begins first.
  const GraphNode& priority(Priority priority) const {
    core().change(id_, [&](detail::GraphNodeRecord& node) { node.priority = priority; });
    return *this;
  }
  // No more nodes with this limit run at once than it says. It outlives the runs. A node may have
  // several: it begins when it has a place of each.
  const GraphNode& uses(GraphLimit& limit) const {
    core().add_limit(id_, limit);
    return *this;
  }
  // It is called up to `times` more, at once, while it throws; so what it reads is copied for it.
  // After a stop of the run it is called once more at most.
  const GraphNode& retries(std::uint32_t times) const {
    core().set_retries(id_, times);
    return *this;
  }

 private:
  friend class TaskGraph;
  friend class GraphRun;
  template <class>
  friend class GraphNode;

  GraphNode(detail::GraphCore& core, detail::NodeId id) noexcept : core_(&core), id_(id) {}

  detail::GraphCore& core() const {
    if (core_ == nullptr) misuse("GraphNode: of no graph; take what TaskGraph::add() returned");
    return *core_;
  }
  // In this graph.
  detail::NodeId id_in(const detail::GraphCore* core) const {
    if (core_ != core) misuse("TaskGraph: a node of another graph; add it to this one");
    return id_;
  }

  detail::GraphCore* core_ = nullptr;
  detail::NodeId id_ = detail::no_node;
};

// A run that was started. It is waited for at the latest when this ends.
class [[nodiscard]] GraphRun {
 public:
  GraphRun() noexcept = default;  // of nothing
  GraphRun(GraphRun&& other) noexcept { swap(other); }
  GraphRun& operator=(GraphRun&& other) noexcept {
    GraphRun(std::move(other)).swap(*this);  // and ends what it had
    return *this;
  }
  // Waits. What wait() would have rethrown is unheard (core/on_unheard.hpp).
  ~GraphRun() {
    if (run_ == nullptr) return;
    const sync::Waited waited(run_->host().executor);
    sync::given(run_);
    end();
  }

  // Whether every node has ended.
  [[nodiscard]] bool is_done() const noexcept { return run_ == nullptr || run_->has_ended(); }

  // Works with the others until every node has ended. Rethrows the first failure, once: the call
  // after that returns the tally.
  Tally wait() {
    const sync::Waited waited(run_ == nullptr ? this : run_->host().executor);
    return wait_until_done();
  }

  // Nodes that have not begun do not begin, and count as cancelled. Any thread.
  void cancel() noexcept {
    if (run_ != nullptr) run_->cancel();
  }

  // After wait(): what a node returned that nobody reads. Misuse if it did not run.
  template <class T>
  T& value(const GraphNode<T>& node) {
    return *static_cast<T*>(value_of(node.id_in(core_)));
  }

  // After wait(): the first node that threw, of this graph and not of its parts; empty if none did.
  [[nodiscard]] const char* failed_node() const noexcept {
    return run_ == nullptr ? "" : run_->failed_node();
  }

 private:
  friend class TaskGraph;
  GraphRun(detail::GraphCore& core, detail::GraphExecution& run) noexcept;
  void swap(GraphRun& other) noexcept;
  void end() noexcept;
  Tally wait_until_done();
  void settle() noexcept;
  void* value_of(detail::NodeId id);

  detail::GraphCore* core_ = nullptr;
  detail::GraphExecution* run_ = nullptr;
  bool is_settled_ = false;
  bool is_rethrown_ = false;
  Tally tally_;
};

class TaskGraph {
 public:
  TaskGraph() : core_(new detail::GraphCore) {}
  TaskGraph(TaskGraph&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  TaskGraph& operator=(TaskGraph&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~TaskGraph() {
    if (core_ != nullptr) core_->release();
  }

  // A node that calls function(values...), with what the inputs return; void ones are waited for.
  // `name` is copied.
  template <class F, class... Inputs>
  auto add(std::string_view name, F&& function, const GraphNode<Inputs>&... inputs) {
    using Closure = detail::NodeClosure<std::decay_t<F>, Inputs...>;
    static_assert(Closure::is_node,
                  "add: the function takes what the inputs return, as values or as const "
                  "references; before that it may take a NodeContext&");
    using Value = typename Closure::Value;
    detail::GraphNodeRecord record =
        Closure::record(std::forward<F>(function),
                        std::array<detail::NodeId, sizeof...(Inputs)>{inputs.id_in(core_)...});
    record.name = name;
    return GraphNode<Value>(*core_, core().add(std::move(record)));
  }

  // A node that runs a whole graph, this run's part of it; several graphs may have it, and it may
  // change later. The inputs are waited for. Misuse if it runs this graph.
  template <class... Inputs>
  GraphNode<void> add(std::string_view name, TaskGraph& part, const GraphNode<Inputs>&... inputs) {
    if (part.core().runs(core())) misuse("TaskGraph: a graph cannot be a part of itself");
    const GraphNode<void> node = add(name, detail::GraphPart(part.core()));
    core().change(node.id_, [&](detail::GraphNodeRecord& own) { own.part = part.core_; });
    return node.after(inputs...);
  }

  // Runs it, until every node has ended. See the head comment.
  template <Executor E>
  Tally run(E& executor, GraphOptions options = {}) {
    const sync::Waited waited(&executor);
    return run_while(detail::host_of(executor), std::move(options), 1, nullptr, nullptr);
  }
  // So many times, one after another. The first run that does not end well is the last.
  template <Executor E>
  Tally run_n(E& executor, std::uint64_t times, GraphOptions options = {}) {
    const sync::Waited waited(&executor);
    return run_while(detail::host_of(executor), std::move(options), times, nullptr, nullptr);
  }
  // Until predicate() says true, which is asked after each run, on this thread.
  template <Executor E, class Predicate>
  Tally run_until(E& executor, Predicate&& predicate, GraphOptions options = {}) {
    const sync::Waited waited(&executor);
    const auto ask = [](void* asked) -> bool {
      return detail::invoke(*static_cast<std::remove_reference_t<Predicate>*>(asked));
    };
    return run_while(detail::host_of(executor), std::move(options), ~std::uint64_t{0}, ask,
                     const_cast<void*>(static_cast<const void*>(&predicate)));
  }

  // Begins a run, and leaves it to the executor, which outlives it. Any number at a time.
  template <Executor E>
  GraphRun start(E& executor, GraphOptions options = {}) {
    return start_on(detail::host_of(executor), std::move(options));
  }

  // How many nodes it has.
  [[nodiscard]] std::size_t size() const { return core().size(); }

  // The graph in the language of Graphviz. After a run with `timed` each node has its times, and
  // the longest way through the graph is marked.
  [[nodiscard]] std::string to_dot() const { return core().to_dot(); }

 private:
  friend class NodeContext;

  detail::GraphCore& core() const {
    if (core_ == nullptr) misuse("TaskGraph: it was moved from");
    return *core_;
  }
  Tally run_while(const detail::GraphHost& host, GraphOptions options, std::uint64_t times,
                  bool (*is_over)(void* asked), void* asked);
  GraphRun start_on(const detail::GraphHost& host, GraphOptions options);

  detail::GraphCore* core_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
