// SPDX-License-Identifier: MIT
//
// The book of runs and waits, and the search for waits that will never end.
#include "wait_watch.hpp"

#include <algorithm>
#include <handoff/sync/mutex.hpp>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI {

std::string WaitCycle::to_string() const {
  std::string text;
  for (const Task& task : tasks) {
    text += "worker " + std::to_string(task.worker) + " in " + task.name + " waits for ";
    if (!task.queued.empty()) text += task.queued + ", queued behind ";
  }
  if (!tasks.empty()) text += "worker " + std::to_string(tasks.front().worker);
  return text;
}

}}  // namespace handoff::HANDOFF_ABI

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Under the lock: two lists, the latest entry first.
sync::Mutex book;
WatchedRun* runs = nullptr;
WatchedWait* waits = nullptr;

const Workplace* this_thread() noexcept {
  const Workplace* place = workplace();
  while (place != nullptr && place->outer != nullptr) place = place->outer;
  return place;
}

class PoolsBook final : public WaitBook {
 public:
  Outcome run(FutureState& state) noexcept override {
    const WatchedRun run(&state, state.name());
    return state.compute();
  }
  Status wait(FutureState& state, const sync::StopToken& stop) override {
    WatchedWait watched;
    return state.wait_in_task(stop, &watched);
  }
  void forget(const FutureState& state) noexcept override { WatchedWait::forget(state); }
};

// "... [with F = the type; ...]", "... [F = ...]"; or a name as it is.
std::string plain_name(std::string_view name) {
  const auto begin = name.find("F = ");
  if (begin == name.npos) return std::string(name);
  name.remove_prefix(begin + 4);
  if (const auto end = name.find_last_of(";]"); end != name.npos) name = name.substr(0, end);
  // equivalent(negate): clang writes nothing more behind the name
  if (const auto end = name.find("; "); end != name.npos) name = name.substr(0, end);
  return std::string(name);
}

}  // namespace

struct WatchBook {
  template <class Entry>
  static void enter(Entry*& list, Entry& entry) noexcept {
    const sync::Lock lock(book);
    entry.next_ = list;
    if (list != nullptr) list->previous_ = &entry;
    list = &entry;
  }
  template <class Entry>
  static void leave(Entry*& list, Entry& entry) noexcept {
    const sync::Lock lock(book);
    (entry.previous_ != nullptr ? entry.previous_->next_ : list) = entry.next_;
    if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
  }
  // The latest of which this is true. Under the lock.
  template <class Entry, class Condition>
  static Entry* latest(Entry* list, Condition&& condition) noexcept {
    while (list != nullptr && !condition(*list)) list = list->next_;
    return list;
  }
};

void keep_wait_book() noexcept {
  static constinit PoolsBook pools_book;
  WaitBook::keep(pools_book);
}

WatchedRun::WatchedRun(const void* what, const char* name) noexcept
    : what_(what), name_(name), thread_(this_thread()) {
  WatchBook::enter(runs, *this);
}
WatchedRun::~WatchedRun() { WatchBook::leave(runs, *this); }

WatchedWait::WatchedWait(const void* what, const GroupTasks* group, const Engine* pool) noexcept
    : what_(what), group_(group), pool_(pool), slot_(workplace()), thread_(this_thread()) {
  WatchBook::enter(waits, *this);
}
WatchedWait::~WatchedWait() { WatchBook::leave(waits, *this); }

// The thread that makes the result takes the lock if it finds the bit: so a state in a list is
// there.
void WatchedWait::add(FutureState& state) noexcept {
  const sync::Lock lock(book);
  if (!state.watch()) return;
  try {
    states_.push_back(&state);
  } catch (const std::bad_alloc&) {
    incomplete_ = true;
  }
}

void WatchedWait::forget(const FutureState& state) noexcept {
  const sync::Lock lock(book);
  for (WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
    std::erase(wait->states_, &state);
  }
}

// Looks and enters under one lock: of waits that close a circle from several sides at once only the
// last one finds it closed.
WaitCycle WatchedWait::cycle() {
  if (incomplete_) throw std::bad_alloc();
  const sync::Lock lock(book);
  asleep_ = true;
  find_stuck();
  return closes_circle() ? report() : WaitCycle{};
}

void WatchedWait::fall_asleep() {
  const WaitCycle closed = cycle();
  const Workplace* const place = watching(slot_);
  if (closed.tasks.empty() || place == nullptr) return;
  static_cast<const Engine&>(place->host).tell_cycle(closed);  // only pools watch
}

void WatchedWait::fall_asleep_quietly() noexcept {
  try {
    fall_asleep();
  } catch (...) {
  }
}

// ---- What a sleeping thread waits for -----------------------------------------------------------

WatchedWait* WatchedWait::sleep_of(const Workplace* thread) noexcept {
  return WatchBook::latest(
      waits, [thread](const WatchedWait& wait) { return wait.asleep_ && wait.thread_ == thread; });
}

bool WatchedWait::waits_for(const WatchedRun& run) const noexcept {
  if (run.what_ == what_) return true;
  return std::find(states_.begin(), states_.end(), run.what_) != states_.end();
}

// One of the tasks that nobody has claimed.
const FutureState* WatchedWait::unbegun() const noexcept {
  for (const FutureState* const state : states_) {
    if (state->waits_for_begin() != nullptr) return state;
  }
  return nullptr;
}

// Those of a group that its owner did not find: in the deques of others.
bool WatchedWait::has_unbegun_tasks() const noexcept {
  std::size_t begun = 0;
  for (const WatchedRun* run = runs; run != nullptr; run = run->next_) {
    if (run->what_ == what_) ++begun;
  }
  return group_->unfinished() > begun;
}

// Of the pool that would have to begin something. Null: nothing is left to begin.
const FutureHost* WatchedWait::host_of_unbegun() const noexcept {
  if (group_ != nullptr) return has_unbegun_tasks() ? &group_->engine() : nullptr;
  const FutureState* const state = unbegun();
  return state != nullptr ? state->waits_for_begin() : nullptr;
}

bool WatchedWait::works_for(const FutureHost& host) const noexcept {
  const Workplace* place = slot_;
  while (place != nullptr && &place->host != &host) place = place->outer;
  return place != nullptr;
}

// Of the pool until whose idleness we wait, the other one runs a task.
bool WatchedWait::waits_for_idle_of(const WatchedWait& other) const noexcept {
  for (const Workplace* place = other.slot_; place != nullptr; place = place->outer) {
    if (&place->host == pool_ && place->depth != 0) return true;
  }
  return false;
}

// ---- Which of them wait for ever ----------------------------------------------------------------

// Whether all threads that might begin a task of this executor are stuck.
bool WatchedWait::nobody_works_for(const FutureHost& host) noexcept {
  std::size_t stuck = 0;
  for (const WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
    if (!wait->stuck_) continue;
    for (const Workplace* place = wait->slot_; place != nullptr; place = place->outer) {
      if (&place->host == &host) ++stuck;
    }
  }
  return stuck == host.hands();
}

// Of what it waits for, something waits for ever.
bool WatchedWait::is_stuck() const noexcept {
  for (const WatchedRun* run = runs; run != nullptr; run = run->next_) {
    if (!waits_for(*run)) continue;
    const WatchedWait* const other = sleep_of(run->thread_);
    if (other != nullptr && other->stuck_) return true;
  }
  for (const WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
    if (wait->stuck_ && waits_for_idle_of(*wait)) return true;
  }
  const FutureHost* const host = host_of_unbegun();
  return host != nullptr && nobody_works_for(*host);
}

// All that sleep, but for those that wait only for some that do not.
void WatchedWait::find_stuck() noexcept {
  for (WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
    wait->stuck_ = wait->asleep_;
    wait->seen_ = false;
    // equivalent(delete): it is written anew before anybody follows it, as seen_ says
    wait->from_ = nullptr;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
      if (!wait->stuck_ || wait->is_stuck()) continue;
      wait->stuck_ = false;
      changed = true;
    }
  }
}

// ---- Whether this one is to be told of ----------------------------------------------------------

template <class Visit>
void WatchedWait::each_waited_for(Visit&& visit) noexcept {
  for (const WatchedRun* run = runs; run != nullptr; run = run->next_) {
    if (!waits_for(*run)) continue;
    WatchedWait* const other = sleep_of(run->thread_);
    if (other != nullptr && other->stuck_) visit(*other);
  }
  for (WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
    if (wait->stuck_ && waits_for_idle_of(*wait)) visit(*wait);
  }
  const FutureHost* const host = host_of_unbegun();
  if (host == nullptr || !nobody_works_for(*host)) return;
  for (WatchedWait* wait = waits; wait != nullptr; wait = wait->next_) {
    if (wait->stuck_ && wait->works_for(*host)) visit(*wait);
  }
}

// Whether this one waits for itself, by the shortest way; that goes back over from_. A wait for a
// circle that was there before closes none.
bool WatchedWait::closes_circle() noexcept {
  if (!stuck_) return false;
  WatchedWait* last = this;
  // equivalent(delete): a wait searches once, and nobody found it before it slept
  to_search_ = nullptr;
  for (WatchedWait* first = this; first != nullptr; first = first->to_search_) {
    first->each_waited_for([&last, first](WatchedWait& other) noexcept {
      if (other.seen_) return;
      other.seen_ = true;
      other.from_ = first;
      // equivalent(swap): the last one's link is null in either order
      last = (last->to_search_ = &other);
      other.to_search_ = nullptr;
    });
    if (seen_) return true;
  }
  return false;
}

WaitCycle WatchedWait::report() const {
  WaitCycle cycle;
  const WatchedWait* next = this;
  do {
    const WatchedWait* const wait = next->from_;
    const WatchedRun* const run = WatchBook::latest(
        runs, [wait](const WatchedRun& each) { return each.thread_ == wait->thread_; });
    WaitCycle::Task task;
    // equivalent(swap): two members of one answer
    task.name = run != nullptr ? plain_name(run->name_) : "a task without a Future";
    task.worker = wait->thread_->index;
    const bool runs_there = wait->waits_for_idle_of(*next) ||
                            WatchBook::latest(runs, [wait, next](const WatchedRun& each) {
                              return each.thread_ == next->thread_ && wait->waits_for(each);
                            }) != nullptr;
    if (!runs_there) {
      const FutureState* const state = wait->unbegun();
      task.queued = state != nullptr ? plain_name(state->name()) : "a task of a TaskGroup";
    }
    cycle.tasks.push_back(std::move(task));
    next = wait;
  } while (next != this);
  std::reverse(cycle.tasks.begin(), cycle.tasks.end());
  return cycle;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
