// SPDX-License-Identifier: MIT
//
// A step of a run: which node is next, how it is called, and what that makes ready.
#include <algorithm>
#include <cstddef>
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/graph/detail/graph_run.hpp>
#include <handoff/graph/graph_limit.hpp>
#include <handoff/graph/node_context.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/prefetch.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

constexpr std::uint32_t kDropped = GraphExecution::kCancelled | GraphExecution::kExpired;

// A node with places of limits, while the thread runs it.
struct Holding {
  explicit Holding(const OuterNode& its_node) noexcept
      : node(its_node), outer(std::exchange(innermost(), this)) {}
  ~Holding() { innermost() = outer; }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  static Holding*& innermost() noexcept { return sync::thread_slot<Holding*, Holding>::get(); }

  const OuterNode node;
  Holding* const outer;
};

}  // namespace

// One count less, which the last one need not touch: it is set anew before its next use.
bool GraphExecution::is_last(sync::atomic<std::uint32_t>& left) noexcept {
  // order: acquire pairs with the releases of the others, which have all come if one is left: ours;
  // acq_rel, each release pairs with the acquire of the last one.
  return left.load(sync::order::acquire) == 1 || left.fetch_sub(1, sync::order::acq_rel) == 1;
}

// Where memory is short the list takes it, which needs none.
void GraphExecution::hand_on(Lane& lane, NodeId id) noexcept {
  const bool is_listed = (plan_.nodes[id].flags & PlannedNode::kListed) != 0;
  if (is_listed || !attempt([&lane] { lane.ready.reserve(); })) [[unlikely]] {
    list(id);
  } else {
    lane.ready.push(&slots_[id]);
  }
}

void GraphExecution::list(NodeId id) noexcept {
  count_busy();
  list_counted(id);
}

void GraphExecution::list_counted(NodeId id) noexcept {
  const auto priority = static_cast<std::size_t>(plan_.details[id].priority);
  const sync::Lock lock(list_mutex_);
  slots_[id].next.write() = no_node;
  NodeId& last = last_listed_[priority].write();
  if (last == no_node) {
    first_listed_[priority].write() = id;
  } else {
    slots_[last].next.write() = id;
  }
  last = id;
  count_listed();
}

// By a busy lane. `least`: none less urgent.
bool GraphExecution::unlist(NodeId& id, Priority least) noexcept {
  if (!is_any_listed()) return false;
  const sync::Lock lock(list_mutex_);
  for (std::size_t i = 0; i <= static_cast<std::size_t>(least); ++i) {
    NodeId& first = first_listed_[i].write();
    if (first == no_node) continue;
    id = first;
    first = slots_[id].next.read();
    if (first == no_node) last_listed_[i].write() = no_node;
    count_unlisted();
    return true;
  }
  return false;
}

void GraphExecution::add(const char* name, UniqueFunction<void(NodeContext&)> function) {
  auto node = std::make_unique<AddedNode>();
  node->function = std::move(function);
  node->name = name;
  sync::tell_given(node.get());
  count_busy();
  {
    const sync::Lock lock(list_mutex_);
    node->next = std::exchange(added_, nullptr);
    added_ = node.release();
    count_listed();
  }
  call_if_wanted();
}

bool GraphExecution::run_added(Lane& lane) noexcept {
  if (!is_any_listed()) return false;
  std::unique_ptr<AddedNode> node;
  {
    const sync::Lock lock(list_mutex_);
    if (added_ == nullptr) return false;
    node.reset(added_);
    added_ = node->next;
    count_unlisted();
  }
  sync::tell_taken(node.get());
  Outcome outcome = whether(no_node);
  if (outcome == Outcome::done) {
    NodeContext here(*this, no_node, node->name);
    const auto call = [&] { node->function(here); };
    if (!attempt(call, [&here]() noexcept { here.fail(); })) outcome = Outcome::failed;
  }
  node.reset();
  sync::tell_given(sync::end_of(host_.executor));
  count(lane, outcome);
  return true;
}

// Large blocks first, so that few look here; single ones at the end, as nobody steals within one
// that has not been pushed.
NodeId GraphExecution::claim_sources(Lane& lane) noexcept {
  std::uint32_t left = unclaimed_.load(sync::order::relaxed);  // order: relaxed, exchanged below
  std::uint32_t claimed = 0;
  do {
    if (left == 0) return no_node;
    const auto part = static_cast<std::uint32_t>(left / (8 * lanes_count_));
    claimed = min(max(part, std::uint32_t{1}), std::uint32_t{32});
    // order: relaxed, what the sources need was published when the lane came in.
  } while (!unclaimed_.compare_exchange_weak(left, left - claimed, sync::order::relaxed,
                                             sync::order::relaxed));
  const NodeId* const end = plan_.sources.data() + plan_.sources.size();
  for (std::uint32_t i = claimed - 1; i > 0; --i) hand_on(lane, *(end - left + i));
  if (left == claimed) count_busy_no_more();
  return *(end - left);
}

// By a busy lane that has ended what it had.
bool GraphExecution::next(Lane& lane, NodeId& id) noexcept {
  if (plan_.is_listed && unlist(id, Priority::high)) return true;
  NodeSlot* slot = nullptr;
  if (lane.ready.pop(slot) == Status::ok) {
    id = id_of(slot);
    return true;
  }
  id = claim_sources(lane);
  if (id != no_node) return true;
  if (unlist(id, Priority::normal)) return true;
  if (run_added(lane)) {
    id = no_node;
    return true;
  }
  return steal(lane, id) || unlist(id, Priority::low);
}

bool GraphExecution::steal(Lane& lane, NodeId& id) noexcept {
  NodeSlot* slot = nullptr;
  for (std::size_t i = 0; i < lanes_count_; ++i) {
    Lane& victim = lanes_[lane.victim];
    if (&victim != &lane && victim.ready.steal(slot) == Status::ok) {
      id = id_of(slot);
      return true;
    }
    lane.victim = static_cast<std::uint32_t>((lane.victim + 1) % lanes_count_);
  }
  return false;
}

// The chain of nodes from this one on.
void GraphExecution::run_from(Lane& lane, NodeId id) noexcept {
  while (id != no_node) id = execute(lane, id);
}

// Runs a node, and says which one this made ready that is to run at once.
NodeId GraphExecution::execute(Lane& lane, NodeId id) noexcept {
  const PlannedNode& node = plan_.nodes[id];
  // order: relaxed, whoever arrives next was made to by what runs from here on (GR-1).
  slots_[id].missing.store(node.missing, sync::order::relaxed);
  NodeContext here(*this, id);
  const bool is_plain = (care() | node.flags) == 0;
  if (is_plain && !probe::is_watched()) [[likely]] {
    node.call(node.closure, here);
    if (!here.has_failed_) [[likely]] {
      ++lane.done;
      return end_node(lane, node, no_node, false);
    }
    count(lane, Outcome::failed);
    return end_node(lane, node, no_node, true);
  }
  Outcome outcome = Outcome::done;
  if (!run_carefully(lane, id, here, outcome)) return no_node;
  const bool has_run = outcome == Outcome::done;
  const bool chooses = has_run && (node.flags & PlannedNode::kChooses) != 0;
  return end_node(lane, node, chooses ? choice(id, here.chosen_) : no_node, !has_run);
}

// Tells the successors.
NodeId GraphExecution::end_node(Lane& lane, const PlannedNode& node, NodeId chosen,
                                bool spoils) noexcept {
  NodeId first = no_node;
  bool has_handed_on = false;
  const auto ready = [&](NodeId id) noexcept {
    sync::prefetch_to_read(&plan_.nodes[id]);  // of a large graph it comes from far
    if (first == no_node && !plan_.is_listed) {
      first = id;
    } else {
      hand_on(lane, id);
      has_handed_on = true;
    }
  };
  const NodeId* const last = plan_.successors.data() + node.last;
  for (const NodeId* each = plan_.successors.data() + node.first; each != last; ++each) {
    // order: relaxed, published by the arrival.
    if (spoils) slots_[*each].marks.fetch_or(NodeSlot::kSpoiled, sync::order::relaxed);
    if (arrive(*each)) ready(*each);
  }
  if (chosen != no_node) ready(chosen);
  if (has_handed_on) call_if_wanted();
  return first;
}

// False: it waits for its limit.
bool GraphExecution::run_carefully(Lane& lane, NodeId id, NodeContext& here,
                                   Outcome& outcome) noexcept {
  const PlannedNode& node = plan_.nodes[id];
  outcome = whether(id);
  const bool is_limited = (node.flags & PlannedNode::kLimited) != 0;
  if (is_limited && !take_places(id, outcome)) return false;
  slots_[id].marks.store(0, sync::order::relaxed);  // order: relaxed, as that of the counter
  if (outcome == Outcome::done) {
    if (is_limited) {
      const Holding holding({this, id});
      call_node(node, id, here);
    } else {
      call_node(node, id, here);
    }
    if (here.has_failed_) outcome = Outcome::failed;
  } else {
    sync::tell_taken(&slots_[id]);  // values that it may end
  }
  if ((node.flags & PlannedNode::kReads) != 0) release_inputs(id);
  sync::tell_given(sync::end_of(host_.executor));  // also the end of values
  if (is_limited) give_places(id);
  count(lane, outcome);
  return true;
}

// GR-6. False: it waits for one.
bool GraphExecution::take_places(NodeId id, Outcome& outcome) noexcept {
  const NodeDetails& details = plan_.details[id];
  for (auto i = details.first_limit; i != details.last_limit && outcome == Outcome::done; ++i) {
    GraphLimit& limit = *plan_.limits[i];
    ParkedNode& parked = parked_[i];
    if (!parked.has_place) {
      parked.run = this;
      parked.id = id;
      count_busy();
      const bool is_in = limit.enter(parked);
      // A stop that came meanwhile may have missed it: the limit's mutex lets one of the two see.
      if (!is_in && !(is_dropped() && limit.withdraw(parked))) return false;
      count_busy_no_more();
      if (!is_in) outcome = whether(id);
    }
    sync::tell_taken(&limit);
  }
  return true;
}

void GraphExecution::give_places(NodeId id) noexcept {
  const NodeDetails& details = plan_.details[id];
  for (auto i = details.first_limit; i != details.last_limit; ++i) {
    if (!std::exchange(parked_[i].has_place, false)) continue;
    sync::tell_given(plan_.limits[i]);
    plan_.limits[i]->leave();
  }
}

void GraphExecution::call_node(const PlannedNode& node, NodeId id, NodeContext& here) noexcept {
  const bool is_seen = probe::is_watched();
  if (is_seen) probe::seen(probe::Mark::begin_named, probe::Kind::task, here.name(), nullptr);
  const bool is_told = is_seen && sync::has_sanitizer();
  if (is_told) sync::tell_taken(&slots_[id]);
  if (is_timed_) times_[id].began = sync::clock::now();
  for (std::uint32_t left = plan_.details[id].retries;; --left) {
    here.is_last_try_ = left == 0 || (here.has_failed_ && is_stopped());
    here.has_failed_ = false;
    node.call(node.closure, here);
    if (!here.has_failed_ || here.is_last_try_) break;
  }
  if (is_timed_) times_[id].ended = sync::clock::now();
  if (is_seen) probe::seen(probe::Mark::end, probe::Kind::task, nullptr, nullptr);
  if (!is_told) return;
  for (NodeId i = node.first; i != node.last; ++i) sync::tell_given(&slots_[plan_.successors[i]]);
  const NodeId chosen = choice(id, here.chosen_);
  if (chosen != no_node) sync::tell_given(&slots_[chosen]);
}

NodeId GraphExecution::choice(NodeId id, std::size_t index) const noexcept {
  const NodeDetails& details = plan_.details[id];
  if (index >= details.last_choice - details.first_choice) return no_node;
  return plan_.choices[details.first_choice + index];
}

// Whether a node may begin. That the run has stopped stands, and goes before all else.
Outcome GraphExecution::whether(NodeId id) noexcept {
  std::uint32_t seen = care();
  if ((seen & kMayStop) != 0 && (seen & kDropped) == 0) {
    const KeptUntil& until = options_.until;
    if (until.stop_token().stop_requested() ||
        (outer_.run != nullptr && outer_.run->is_stopped())) {
      seen |= kCancelled;
    } else if (until.has_deadline() && sync::clock::now() >= until.deadline()) {
      seen |= kExpired;
    }
    if ((seen & kDropped) != 0) set_care(seen & kDropped);
  }
  if ((seen & kDropped) == 0) {
    // order: relaxed, see care().
    const bool is_spoiled =
        id != no_node && (slots_[id].marks.load(sync::order::relaxed) & NodeSlot::kSpoiled) != 0;
    return is_spoiled ? Outcome::cancelled : Outcome::done;
  }
  return (seen & kCancelled) != 0 ? Outcome::cancelled : Outcome::expired;
}

bool GraphExecution::is_stopped() noexcept { return whether(no_node) != Outcome::done; }

bool GraphExecution::is_dropped() const noexcept { return (care() & kDropped) != 0; }

void GraphExecution::cancel() noexcept {
  set_care(kCancelled);
  if (!plan_.limits.empty()) withdraw();
  changed_.notify_all();  // waiters of parts
}

void GraphExecution::check_limits(const OuterNode& outer) const {
  if (plan_.limits.empty()) return;
  check_limits_of(outer);
  for (const Holding* at = Holding::innermost(); at != nullptr; at = at->outer) {
    check_limits_of(at->node);
  }
}

void GraphExecution::check_limits_of(OuterNode at) const {
  for (; at.run != nullptr; at = at.run->outer_) {
    if (at.id == no_node) continue;
    GraphLimit* const* const held = at.run->plan_.limits.data();
    GraphLimit* const* const wanted = plan_.limits.data();
    const NodeDetails& holder = at.run->plan_.details[at.id];
    for (const NodeDetails& own : plan_.details) {
      GraphLimit* const* const last = wanted + own.last_limit;
      if (std::find_first_of(wanted + own.first_limit, last, held + holder.first_limit,
                             held + holder.last_limit) == last) {
        continue;
      }
      misuse(("TaskGraph: \"" + std::string(holder.name) +
              "\" has a place of a GraphLimit, and \"" + own.name +
              "\", which runs inside it, needs one of the same; let one of them use it")
                 .c_str());
    }
  }
}

void GraphExecution::count(Lane& lane, Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::done: ++lane.done; return;
    case Outcome::failed: ++lane.failed; break;
    case Outcome::expired: ++lane.expired; break;
    default: ++lane.cancelled; break;
  }
  set_care(kFailed);
}

void GraphExecution::note_failure(const char* name) noexcept {
  const std::exception_ptr error = caught_failure();
  const GraphOptions& options = outermost().options_;  // those of parts are empty
  if (options.on_error) options.on_error({.error = error, .task = name});
  const sync::Lock lock(list_mutex_);
  if (failure_) return;
  failure_ = error;
  failed_node_ = name;
}

// Values.
void* GraphExecution::input(NodeId reader, NodeId id) const {
  if (!has_value(id)) {
    const std::string own = "\"" + std::string(plan_.details[reader].name) + "\"";
    const std::string its = "\"" + std::string(plan_.details[id].name) + "\"";
    const auto end = plan_.choices.end();
    const bool is_choice = std::find(plan_.choices.begin(), end, reader) != end;
    misuse(("TaskGraph: " + own +
            (is_choice ? " was chosen, but what " + its +
                             " returns is not there: not yet, or its last reader has had it"
                       : " begins, but what " + its + " returns is not there: a loop began " + its +
                             " again before all had read it; let the condition wait for " + own))
               .c_str());
  }
  return value_of(id);
}

bool GraphExecution::is_last_reader(NodeId id) const noexcept {
  // order: acquire pairs with the release in release_inputs(): the others have read it.
  const bool is_last = slots_[id].readers.load(sync::order::acquire) == 1;
  if (is_last) sync::tell_taken(&slots_[id].readers);
  return is_last;
}

void GraphExecution::has_made_value(NodeId id) noexcept {
  slots_[id].has_value.write() = true;
  // order: relaxed, readers hear by their arrival.
  slots_[id].readers.store(plan_.details[id].readers, sync::order::relaxed);
}

void GraphExecution::drop_value(NodeId id) noexcept {
  slots_[id].has_value.write() = false;
  if (auto* const destroy = plan_.details[id].destroy_value) destroy(value_of(id));
}

void GraphExecution::release_inputs(NodeId id) noexcept {
  const NodeDetails& details = plan_.details[id];
  for (std::uint32_t i = details.first_input; i < details.last_input; ++i) {
    const NodeId input = plan_.inputs[i];
    if (!has_value(input)) continue;
    sync::atomic<std::uint32_t>& readers = slots_[input].readers;
    sync::tell_given(&readers);
    if (is_last(readers)) {  // it ends what all others have read
      sync::tell_taken(&readers);
      drop_value(input);
    }
  }
}

void GraphExecution::destroy_values() noexcept {
  if (!plan_.has_values) return;
  for (NodeId id = 0; id < plan_.nodes.size(); ++id) {
    if (has_value(id)) drop_value(id);
  }
  sync::tell_given(this);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
