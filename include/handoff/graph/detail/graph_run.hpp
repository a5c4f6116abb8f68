// SPDX-License-Identifier: MIT
//
// One run of a TaskGraph: the counters and values of its nodes, and the threads that work on it.
// Not for users, who have GraphRun.
//
// The threads are lanes: helpers, functions that an executor was given, and the thread that waits.
// A lane runs a node, then the first successor that this made ready, and so on; further ones go
// into its deque, where idle lanes steal. Nothing is handed to the executor but the helpers, each
// of which works until it finds nothing. The executor may run them late, or never: so they hold the
// run by a count, and enter it through a gate, which the waiter closes when the run has ended.
//
// Invariants
//   GR-1  A node begins when as many arrivals as it waits for have come, and its counter is armed
//         again before it runs: the counters of a run that has ended are those of a new one.
//   GR-2  busy_ is the number of lanes that have work, of listed nodes, of nodes that wait for a
//         limit, plus one while a source is unclaimed. It leaves 0 never, and reaches 0 once: then
//         every node that was to run has ended.
//   GR-3  A deque with a node is that of a busy lane.
//   GR-4  calls_ counts lanes that look for work (or are on their way), and places for more. While
//         one looks, nobody else is called; when it finds work, it calls the next.
//   GR-5  A node that waits for a limit is in its queue. The thread that unlinks it lists it here:
//         leave() with a place, withdraw() without one. No node of a run that has stopped and has
//         withdrawn its nodes stays in a queue.
//   GR-6  A node takes the places of its limits by the addresses of these, and keeps those that it
//         has while it waits for the next: so no two nodes wait for each other.
// Why the orders are enough: docs/design/task_graph.md.
//
// Concurrency: begin(), wait() and end() by the owner of the run; the rest as each says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/gate.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/graph/detail/graph_plan.hpp>
#include <handoff/graph/graph_options.hpp>
#include <handoff/queue/steal_deque.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class GraphCore;
class GraphExecution;
class GraphPart;
template <class T, bool kTaken>
class NodeInput;
template <class F, class... Inputs>
struct NodeClosure;

// An executor of any type, which outlives the run.
struct GraphHost {
  void* executor = nullptr;
  std::size_t width = 0;
  bool (*post)(void* executor, GraphExecution& run) noexcept = nullptr;  // false: refused
};

// A node at one of its limits.
struct ParkedNode {
  GraphExecution* run = nullptr;
  NodeId id = no_node;
  // Guarded by the limit's mutex. While the node does not wait, the thread that runs it may use
  // has_place without that mutex.
  bool waits = false;
  bool has_place = false;
  ParkedNode* next = nullptr;
  ParkedNode* previous = nullptr;
};

// The node that runs a part, and its run.
struct OuterNode {
  GraphExecution* run = nullptr;
  NodeId id = no_node;
};

// A node that was added to a run, and is of no graph.
struct AddedNode {
  UniqueFunction<void(NodeContext&)> function;
  const char* name = "";
  AddedNode* next = nullptr;
};

// What a run knows of a node.
struct NodeSlot {
  static constexpr std::uint8_t kSpoiled = 1;  // what it depends on did not run

  sync::atomic<std::uint32_t> missing{0};  // arrivals until it begins
  sync::atomic<std::uint32_t> readers{0};  // of its value, less those that have ended
  sync::atomic<std::uint8_t> marks{0};
  sync::cell<bool> has_value{false};
  sync::cell<NodeId> next{no_node};  // in the list of its priority
};

struct NodeTimes {
  sync::Deadline began = {};
  sync::Deadline ended = {};
};

class GraphExecution {
 public:
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t most_lanes = 3;  // a model has room for few atomics
  static constexpr std::size_t ready_nodes = 4;
#else
  static constexpr std::size_t most_lanes = 64;
  static constexpr std::size_t ready_nodes = 64;  // of a lane, at first
#endif

  // In care_: why a step has to look more closely.
  static constexpr std::uint32_t kMayStop = 1;  // there is a deadline, a token, or an outer run
  static constexpr std::uint32_t kFailed = 2;  // a node did not run to its end
  static constexpr std::uint32_t kTimed = 4;
  static constexpr std::uint32_t kCancelled = 8;
  static constexpr std::uint32_t kExpired = 16;

  // With a count of one, the graph's. Throws std::bad_alloc.
  static GraphExecution* make(Plan& plan, std::size_t width);
  void retain() noexcept;
  void release() noexcept;

  Plan& plan() const noexcept { return plan_; }
  // Whether a run on this executor may begin in it: nobody of another one is on the way.
  bool is_for(const GraphHost& host) const noexcept;

  // The run begins; its helpers are called. `outer`: stops this one, too. Without the caller: false
  // if the executor has refused, so nobody may come.
  bool begin(const GraphHost& host, const OuterNode& outer, bool caller_works);
  // Misuse, where a node wants a place of a limit of which one that runs it has one: `outer`, or
  // one on this thread.
  void check_limits(const OuterNode& outer) const;
  GraphOptions& options() noexcept { return options_; }  // of the next run
  bool is_done() const noexcept;
  // Asked from outside. If nobody waits for the run, nobody else sees that its time is over.
  bool has_ended() noexcept;
  // Works while there is something to do here.
  void work_here() noexcept { wait_for_end(false); }
  // Works with the others until the run has ended.
  void wait() noexcept;
  // After wait(): what became of it. Values stay until the next run, or the end.
  Tally settle() noexcept;
  void destroy_values() noexcept;
  void cancel() noexcept;

  // By any thread, while the run cannot end. Throws std::bad_alloc.
  void add(const char* name, UniqueFunction<void(NodeContext&)> function);

  // A helper's: the executor calls it, or drops it.
  void help() noexcept;
  void lose_helper() noexcept;

  // By the node that runs.
  bool is_stopped() noexcept;
  void* value_of(NodeId id) const noexcept { return values_ + plan_.details[id].value_at; }
  // What another node left there; misuse where there is nothing.
  void* input(NodeId reader, NodeId id) const;
  bool is_last_reader(NodeId id) const noexcept;
  void* room_for(NodeId id) noexcept {
    if (has_value(id)) [[unlikely]]
      drop_value(id);
    return value_of(id);
  }
  void has_made_value(NodeId id) noexcept;
  void drop_value(NodeId id) noexcept;
  bool has_value(NodeId id) const noexcept { return slots_[id].has_value.read(); }
  const GraphHost& host() const noexcept { return host_; }

  // A node that had to wait for a limit goes on; without a place it is left out.
  void admit(NodeId id) noexcept;

  const char* failed_node() const noexcept { return failed_node_; }
  const NodeTimes* times() const noexcept { return times_.get(); }

 private:
  template <class>
  friend struct Books;
  friend class handoff::NodeContext;

  struct alignas(sync::destructive_span) Lane {
    StealDeque<NodeSlot*> ready{ready_nodes};
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t expired = 0;
    std::uint32_t victim = 0;
  };

  GraphExecution(Plan& plan, std::size_t width);
  ~GraphExecution();

  NodeId id_of(const NodeSlot* slot) const noexcept { return static_cast<NodeId>(slot - slots_); }

  // A lane's.
  void work_in(Lane& lane) noexcept;
  void run_from(Lane& lane, NodeId id) noexcept;
  NodeId execute(Lane& lane, NodeId id) noexcept;
  NodeId end_node(Lane& lane, const PlannedNode& node, NodeId chosen, bool spoils) noexcept;
  bool run_carefully(Lane& lane, NodeId id, NodeContext& here, Outcome& outcome) noexcept;
  bool take_places(NodeId id, Outcome& outcome) noexcept;
  void give_places(NodeId id) noexcept;
  void call_node(const PlannedNode& node, NodeId id, NodeContext& here) noexcept;
  NodeId choice(NodeId id, std::size_t index) const noexcept;
  Outcome whether(NodeId id) noexcept;
  void check_limits_of(OuterNode at) const;
  void release_inputs(NodeId id) noexcept;
  void count(Lane& lane, Outcome outcome) noexcept;
  void note_failure(const char* name) noexcept;

  static bool is_last(sync::atomic<std::uint32_t>& left) noexcept;
  bool arrive(NodeId id) noexcept { return is_last(slots_[id].missing); }
  void hand_on(Lane& lane, NodeId id) noexcept;
  void list(NodeId id) noexcept;
  void list_counted(NodeId id) noexcept;
  bool unlist(NodeId& id, Priority least) noexcept;
  bool run_added(Lane& lane) noexcept;
  NodeId claim_sources(Lane& lane) noexcept;
  bool next(Lane& lane, NodeId& id) noexcept;
  bool steal(Lane& lane, NodeId& id) noexcept;

  // By a lane that is counted, so it cannot reach 0 meanwhile (GR-2).
  void count_busy() noexcept {
    busy_.fetch_add(1, sync::order::relaxed);  // order: relaxed, a count
  }
  void count_busy_no_more() noexcept {
    busy_.fetch_sub(1, sync::order::relaxed);  // order: relaxed, a count
  }
  bool is_any_listed() const noexcept {
    return listed_.load(sync::order::relaxed) != 0;  // order: relaxed, a hint; the mutex orders
  }
  // With the mutex.
  void count_listed() noexcept {
    listed_.fetch_add(1, sync::order::relaxed);  // order: relaxed, see is_any_listed()
  }
  // ... by a busy lane, which takes over the share of busy_.
  void count_unlisted() noexcept {
    listed_.fetch_sub(1, sync::order::relaxed);  // order: relaxed, see is_any_listed()
    count_busy_no_more();
  }
  bool may_have_work() const noexcept;
  bool become_busy() noexcept;
  void leave_busy() noexcept;

  Lane* claim_lane() noexcept;
  void give_back(Lane& lane) noexcept;
  void wait_for_end(bool sleeps) noexcept;
  bool join() noexcept;
  std::uint32_t change_calls(std::uint32_t by) noexcept;
  void leave(bool gives_place) noexcept;
  bool take_place() noexcept;
  void found_work() noexcept;
  void call_if_wanted() noexcept;
  bool call() noexcept;
  bool end_sleep() noexcept;
  bool sleep(bool has_place) noexcept;
  void await_change(bool has_place) noexcept;
  bool withdraw_if_stopped() noexcept;
  void withdraw() noexcept;
  std::uint32_t care() const noexcept {
    // order: relaxed. What spoiled a node came with its arrival, a withdrawal by the limit's mutex;
    // another stop is seen when it is.
    return care_.load(sync::order::relaxed);
  }
  // Seen by later steps: in time, or by the arrivals that come after it.
  void set_care(std::uint32_t bits) noexcept {
    care_.fetch_or(bits, sync::order::relaxed);  // order: relaxed, see care()
  }
  bool is_dropped() const noexcept;
  GraphExecution& outermost() noexcept;
  void reset_counters() noexcept;

  Plan& plan_;
  const std::size_t lanes_count_;
  std::unique_ptr<Lane[]> lanes_;
  std::size_t bytes_ = 0;
  std::size_t alignment_ = 1;
  void* memory_ = nullptr;  // of slots and values
  NodeSlot* slots_ = nullptr;
  NodeSlot* slots_end_ = nullptr;
  std::byte* values_ = nullptr;
  std::unique_ptr<ParkedNode[]> parked_;
  std::unique_ptr<NodeTimes[]> times_;
  sync::atomic<std::uint32_t> refs_;

  // Of the run that goes on.
  GraphHost host_;
  GraphOptions options_;
  OuterNode outer_;
  bool is_timed_ = false;
  Gate gate_;
  sync::EventCount changed_;  // the waiter, and who closes the gate
  // Where the waiter sleeps: with a limit at the outermost run, to hear of its cancel(). Notified
  // from inside the gate only, so that the outermost run is there.
  sync::EventCount* bell_ = &changed_;
  std::exception_ptr failure_;
  const char* failed_node_ = "";
  sync::Mutex list_mutex_;  // of failure_, and the lists
  sync::cell<NodeId> first_listed_[4];
  sync::cell<NodeId> last_listed_[4];
  AddedNode* added_ = nullptr;

  // Read by each step, seldom written: whether a step has to be careful.
  alignas(sync::destructive_span) sync::atomic<std::uint32_t> care_;
  sync::atomic<std::uint32_t> listed_;
  sync::atomic<std::uint32_t> unclaimed_;  // sources, the last ones first
  // Written when a lane begins or ends to look for work.
  alignas(sync::destructive_span) sync::atomic<std::uint32_t> calls_;
  sync::atomic<std::uint32_t> asleep_;  // the waiter is a place for more
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> busy_;
  sync::atomic<std::uint64_t> taken_lanes_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
