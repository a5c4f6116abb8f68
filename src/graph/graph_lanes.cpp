// SPDX-License-Identifier: MIT
//
// The threads of a run: how they come in, look for work, sleep, are called, and leave.
#include <chrono>
#include <cstddef>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/graph/detail/graph_run.hpp>
#include <handoff/graph/graph_limit.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/work_patience.hpp>
#include <memory>
#include <new>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {

namespace {

// In calls_: lanes that look for work, and above them places for more lanes.
constexpr std::uint32_t kLooks = 1;
constexpr std::uint32_t kPlace = 1U << 16;
constexpr std::uint32_t kLooksMask = kPlace - 1;

constexpr bool is_wanted(std::uint32_t calls) noexcept {
  return (calls & kLooksMask) == 0 && calls >= kPlace;
}

std::size_t lanes_for(std::size_t width) noexcept {
  return min(max(width, std::size_t{1}) + 1, GraphExecution::most_lanes);
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) noexcept {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

GraphExecution* GraphExecution::make(Plan& plan, std::size_t width) {
  auto* const made = new GraphExecution(plan, width);
  sync::tell_given(made);
  return made;
}

// One block: the slots, then the values. The waiter is a lane beside those of the executor.
GraphExecution::GraphExecution(Plan& plan, std::size_t width)
    : plan_(plan),
      lanes_count_(lanes_for(width)),
      lanes_(std::make_unique<Lane[]>(lanes_count_)),
      parked_(std::make_unique<ParkedNode[]>(plan.limits.size())),
      refs_(1),
      care_(0),
      listed_(0),
      unclaimed_(0),
      calls_(static_cast<std::uint32_t>(lanes_count_ - 1) * kPlace),
      asleep_(0),
      busy_(0),
      taken_lanes_(0) {
  (void)sync::spin_policy();  // its first call allocates
  for (std::size_t i = 0; i < 4; ++i) {
    first_listed_[i].write() = no_node;
    last_listed_[i].write() = no_node;
  }
  // Any lane may come to have nearly all: so that none grows in a later run.
  for (std::size_t i = 0; i < lanes_count_; ++i) lanes_[i].ready.reserve(plan.nodes.size());
  const std::size_t slots = plan.nodes.size() * sizeof(NodeSlot);
  alignment_ = max(plan.value_alignment, sync::destructive_span);
  bytes_ = rounded_up(slots, alignment_) + plan.value_bytes;
  memory_ = sync::allocate(bytes_, alignment_);
  slots_ = static_cast<NodeSlot*>(memory_);
  std::uninitialized_default_construct_n(slots_, plan.nodes.size());
  values_ = static_cast<std::byte*>(memory_) + rounded_up(slots, alignment_);
  slots_end_ = slots_ + plan.nodes.size();
  reset_counters();
  ++plan.users;
}

GraphExecution::~GraphExecution() {
  std::destroy(slots_, slots_end_);
  sync::deallocate(memory_, bytes_, alignment_);
}

void GraphExecution::retain() noexcept {
  refs_.fetch_add(1, sync::order::relaxed);  // order: relaxed, by a holder
}
void GraphExecution::release() noexcept {
  sync::tell_given(this);
  // order: acq_rel, each release pairs with the acquire of the last one, which ends it.
  if (refs_.fetch_sub(1, sync::order::acq_rel) != 1) return;
  sync::tell_taken(this);
  delete this;
}

// Helpers of the run before may be on their way still: to the same executor they are as good as
// new ones, and calls_ counts them.
bool GraphExecution::is_for(const GraphHost& host) const noexcept {
  if (lanes_count_ != lanes_for(host.width)) return false;
  // order: relaxed, what helpers did came by the gate; one that it kept out has only counted.
  return host_.executor == host.executor || refs_.load(sync::order::relaxed) == 1;
}

void GraphExecution::reset_counters() noexcept {
  for (NodeId id = 0; id < plan_.nodes.size(); ++id) {
    // order: relaxed, published when the gate opens.
    slots_[id].missing.store(plan_.nodes[id].missing, sync::order::relaxed);
    slots_[id].marks.store(0, sync::order::relaxed);  // order: as above
  }
}

bool GraphExecution::begin(const GraphHost& host, const OuterNode& outer, bool caller_works) {
  host_ = host;
  outer_ = outer;
  bell_ = plan_.limits.empty() ? &changed_ : &outermost().changed_;
  is_timed_ = options_.timed;
  failure_ = nullptr;
  failed_node_ = "";
  if (plan_.has_choices) reset_counters();
  for (std::size_t i = 0; i < lanes_count_; ++i) {
    lanes_[i].done = lanes_[i].failed = lanes_[i].cancelled = lanes_[i].expired = 0;
  }
  if (is_timed_) {
    if (times_ == nullptr) times_ = std::make_unique<NodeTimes[]>(plan_.nodes.size());
    for (NodeId id = 0; id < plan_.nodes.size(); ++id) times_[id] = {};
  }
  const bool may_stop = outer.run != nullptr || options_.until.has_deadline() ||
                        options_.until.stop_token().stop_possible();
  const auto sources = static_cast<std::uint32_t>(plan_.sources.size());
  using sync::order;
  // order: relaxed, all three, published when the gate opens.
  care_.store((may_stop ? kMayStop : 0) | (is_timed_ ? kTimed : 0), order::relaxed);
  const std::uint32_t unclaimed = sources - plan_.listed_sources;
  unclaimed_.store(unclaimed, order::relaxed);  // order: as above
  busy_.store(unclaimed != 0 ? 1 : 0, order::relaxed);  // order: as above
  if (sync::has_sanitizer()) {  // a helper of the run before may run them
    sync::tell_taken(this);  // another thread may have begun that one
    for (const NodeId id : plan_.sources) sync::tell_given(&slots_[id]);
  }
  for (std::uint32_t i = 0; i < plan_.listed_sources; ++i) list(plan_.sources[i]);
  gate_.open();
  if (!caller_works) return sources == 0 || call();
  if (sources > 1) call_if_wanted();
  return true;
}

bool GraphExecution::is_done() const noexcept {
  // order: acquire pairs with the release in leave_busy(): what all nodes did.
  return busy_.load(sync::order::acquire) == 0;
}

void GraphExecution::wait() noexcept {
  wait_for_end(true);
  gate_.close();
  (void)changed_.await([this]() noexcept { return gate_.is_empty(); });
  sync::tell_taken(sync::end_of(host_.executor));  // values and on_error end before the user hears
}

// `sleeps`: until the run has ended; else until there is nothing to do here.
void GraphExecution::wait_for_end(bool sleeps) noexcept {
  if (is_done()) return;
  Lane* const lane = claim_lane();
  bool has_place = join();
  while (!is_done()) {
    if (lane != nullptr) work_in(*lane);
    if (is_done() || !sleeps) break;
    has_place = sleep(has_place);
  }
  leave(has_place);
  if (lane != nullptr) give_back(*lane);
}

Tally GraphExecution::settle() noexcept {
  Tally tally;
  for (std::size_t i = 0; i < lanes_count_; ++i) {
    tally.done += lanes_[i].done;
    tally.failed += lanes_[i].failed;
    tally.cancelled += lanes_[i].cancelled;
    tally.expired += lanes_[i].expired;
  }
  tally.accepted = tally.done + tally.failed + tally.cancelled + tally.expired;
  tally.first_failure = std::exchange(failure_, nullptr);
  return tally;
}

GraphExecution::Lane* GraphExecution::claim_lane() noexcept {
  std::uint64_t taken = taken_lanes_.load(sync::order::relaxed);  // order: relaxed, exchanged below
  for (;;) {
    std::size_t free = 0;
    while (free < lanes_count_ && (taken >> free & 1) != 0) ++free;
    if (free == lanes_count_) return nullptr;
    // order: acquire pairs with the release in give_back(): the deque is as its owner left it.
    if (taken_lanes_.compare_exchange_weak(taken, taken | std::uint64_t{1} << free,
                                           sync::order::acquire, sync::order::relaxed)) {
      return &lanes_[free];
    }
  }
}

void GraphExecution::give_back(Lane& lane) noexcept {
  const auto index = static_cast<std::size_t>(&lane - lanes_.get());
  // order: release pairs with the acquire in claim_lane().
  taken_lanes_.fetch_and(~(std::uint64_t{1} << index), sync::order::release);
}

// The waiter looks for work. False: without a place, as all are taken.
bool GraphExecution::join() noexcept {
  std::uint32_t calls = calls_.load(sync::order::relaxed);  // order: relaxed, exchanged below
  for (;;) {
    const bool has_place = calls >= kPlace;
    // order: seq_cst, see change_calls().
    if (calls_.compare_exchange_weak(calls, calls + kLooks - (has_place ? kPlace : 0),
                                     sync::order::seq_cst, sync::order::relaxed)) {
      return has_place;
    }
  }
}

std::uint32_t GraphExecution::change_calls(std::uint32_t by) noexcept {
  // order: seq_cst, in leave() before the heavy fence that a look for work follows; its partner is
  // the load in call_if_wanted().
  return calls_.fetch_add(by, sync::order::seq_cst) + by;
}

// A lane no longer looks.
void GraphExecution::leave(bool gives_place) noexcept {
  (void)change_calls((gives_place ? kPlace : 0) - kLooks);
}

void GraphExecution::help() noexcept {
  std::uint32_t any_run = 0;
  if (!gate_.enter(any_run)) return lose_helper();
  Lane* const lane = claim_lane();
  if (lane != nullptr) {
    do {
      work_in(*lane);
      leave(true);
      if (is_done()) break;
      sync::asymmetric_fence_heavy();  // order: partner is the light half in call_if_wanted()
    } while (!is_done() && may_have_work() && take_place());
    give_back(*lane);
  } else {
    leave(true);
  }
  if (gate_.leave()) changed_.notify_all();
}

void GraphExecution::lose_helper() noexcept { leave(true); }

// Again, for a lane that has just left.
bool GraphExecution::take_place() noexcept {
  std::uint32_t calls = calls_.load(sync::order::relaxed);  // order: relaxed, exchanged below
  while (is_wanted(calls)) {
    // order: seq_cst, see change_calls().
    if (calls_.compare_exchange_weak(calls, calls - kPlace + kLooks, sync::order::seq_cst,
                                     sync::order::relaxed)) {
      return true;
    }
  }
  return false;
}

// From a look for work to the next one that found nothing.
void GraphExecution::work_in(Lane& lane) noexcept {
  for (;;) {
    if (may_have_work() && become_busy()) {
      NodeId id = no_node;
      if (next(lane, id)) {
        found_work();
        do run_from(lane, id);
        while (next(lane, id));
        (void)change_calls(kLooks);  // before the lane is no longer busy, so that one looks
      }
      leave_busy();
    }
    const auto is_over = [this]() noexcept { return is_done() || may_have_work(); };
    if (is_over()) {
      if (is_done()) return;
      continue;
    }
    // For so long, whenever it last found work: another lane's node seldom takes longer.
    sync::look_for_work(is_over, {}, sync::spin_policy(), std::chrono::microseconds(50));
    if (is_done() || !may_have_work()) return;
  }
}

bool GraphExecution::may_have_work() const noexcept {
  // order: relaxed, a hint as the others; change_calls() says what makes them good enough.
  if (is_any_listed() || unclaimed_.load(sync::order::relaxed) != 0) return true;
  for (std::size_t i = 0; i < lanes_count_; ++i) {
    if (!lanes_[i].ready.empty()) return true;
  }
  return false;
}

// From 0 on nothing comes any more: so it is not left again.
bool GraphExecution::become_busy() noexcept {
  std::uint64_t busy = busy_.load(sync::order::relaxed);  // order: relaxed, exchanged below
  while (busy != 0) {
    // order: relaxed, what a lane finds comes by its deque, the mutex of the lists, or the gate.
    if (busy_.compare_exchange_weak(busy, busy + 1, sync::order::relaxed, sync::order::relaxed)) {
      return true;
    }
  }
  return false;
}

void GraphExecution::leave_busy() noexcept {
  // order: release, each one's pairs with the acquire in is_done(): only read-modify-writes follow.
  if (busy_.fetch_sub(1, sync::order::release) == 1) bell_->notify_all();
}

// It no longer looks; there may be more for others.
void GraphExecution::found_work() noexcept {
  const std::uint32_t calls = change_calls(0 - kLooks);
  if (is_wanted(calls) && may_have_work()) (void)call();
}

// After something has come to a deque or a list.
void GraphExecution::call_if_wanted() noexcept {
  // order: light half; partner is the heavy half before a lane's last look, in help() and sleep():
  // either that look finds what has come, or the line below finds that nobody looks.
  sync::asymmetric_fence_light();
  // order: relaxed, ordered by the fence
  if (is_wanted(calls_.load(sync::order::relaxed))) [[unlikely]]
    (void)call();
}

// False: the executor has refused.
bool GraphExecution::call() noexcept {
  if (!take_place()) return true;
  if (!end_sleep()) return host_.post(host_.executor, *this);
  bell_->notify_all();
  return true;
}

// False: somebody else has.
bool GraphExecution::end_sleep() noexcept {
  // order: relaxed, a call's place came by calls_ after the store in sleep(); one of the two takes
  // the word back.
  return asleep_.exchange(0, sync::order::relaxed) != 0;
}

// The waiter, which has found nothing, until it is called or the run has ended. Says whether it has
// a place now.
bool GraphExecution::sleep(bool has_place) noexcept {
  // order: relaxed, published by leave(), with the place.
  if (has_place) asleep_.store(1, sync::order::relaxed);
  leave(has_place);
  sync::asymmetric_fence_heavy();  // order: partner is the light half in call_if_wanted()
  if (is_done() || !may_have_work()) await_change(has_place);
  if (has_place && !end_sleep()) return true;  // a call has counted this thread
  return join();
}

void GraphExecution::await_change(bool has_place) noexcept {
  const Lending lending;
  const auto is_over = [this, has_place]() noexcept {
    // order: relaxed, the exchange in end_sleep() decides.
    return is_done() || is_any_listed() || (has_place && asleep_.load(sync::order::relaxed) == 0);
  };
  if (plan_.limits.empty() || withdraw_if_stopped()) {
    (void)bell_->await(is_over, sync::no_deadline, {}, sync::Spin::never);
  } else {
    const KeptUntil& until = outermost().options_.until;  // that of parts is empty
    (void)bell_->await([&]() noexcept { return is_over() || is_stopped(); }, until.deadline(),
                       until.stop_token(), sync::Spin::never);
  }
}

GraphExecution& GraphExecution::outermost() noexcept {
  GraphExecution* run = this;
  while (run->outer_.run != nullptr) run = run->outer_.run;
  return *run;
}

bool GraphExecution::has_ended() noexcept {
  if (!is_done() && !plan_.limits.empty()) (void)withdraw_if_stopped();
  return is_done();
}

bool GraphExecution::withdraw_if_stopped() noexcept {
  if (!is_stopped()) return false;
  withdraw();
  return true;
}

// After care_ says that the run has stopped: a node that comes to its limit later sees that there.
void GraphExecution::withdraw() noexcept {
  for (std::size_t i = 0; i < plan_.limits.size() && !is_done(); ++i) {
    if (plan_.limits[i]->withdraw(parked_[i])) admit(parked_[i].id);
  }
}

// Called by the thread that unlinked the node (GR-5). That thread is inside the gate: the node is
// counted, so the run cannot have ended.
void GraphExecution::admit(NodeId id) noexcept {
  retain();
  std::uint32_t any_run = 0;
  (void)gate_.enter(any_run);
  list_counted(id);
  call_if_wanted();
  bell_->notify_all();
  if (gate_.leave()) changed_.notify_all();
  release();
}

}  // namespace detail

bool GraphLimit::enter(detail::ParkedNode& node) noexcept {
  const sync::Lock lock(mutex_);
  if (free_ != 0) {
    --free_;
    return node.has_place = true;
  }
  node.waits = true;
  node.next = nullptr;
  node.previous = last_;
  (last_ == nullptr ? first_ : last_->next) = &node;
  last_ = &node;
  return false;
}

void GraphLimit::unlink(detail::ParkedNode& node) noexcept {
  node.waits = false;
  (node.previous == nullptr ? first_ : node.previous->next) = node.next;
  (node.next == nullptr ? last_ : node.next->previous) = node.previous;
}

bool GraphLimit::withdraw(detail::ParkedNode& node) noexcept {
  const sync::Lock lock(mutex_);
  if (!node.waits) return false;
  unlink(node);
  return true;
}

// Its place goes to the one that has waited longest.
void GraphLimit::leave() noexcept {
  detail::ParkedNode* next = nullptr;
  {
    const sync::Lock lock(mutex_);
    next = first_;
    if (next == nullptr) {
      ++free_;
      return;
    }
    unlink(*next);
    next->has_place = true;
  }
  next->run->admit(next->id);
}

}}  // namespace handoff::HANDOFF_ABI
