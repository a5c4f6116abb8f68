// SPDX-License-Identifier: MIT
//
// The book of runs and waits, and the walk from wait to run to wait that finds a cycle.
#include "wait_watch.hpp"

#include <handoff/sync/mutex.hpp>
#include <string>

namespace handoff::inline HANDOFF_ABI {

std::string WaitCycle::to_string() const {
  std::string text;
  for (const Task& task : tasks) {
    text += "worker " + std::to_string(task.worker) + " in " + task.name + " waits for ";
  }
  if (!tasks.empty()) text += "worker " + std::to_string(tasks.front().worker);
  return text;
}

}  // namespace handoff::inline HANDOFF_ABI

namespace handoff::inline HANDOFF_ABI::detail {
namespace {

// Under the lock: two lists, the latest entry first.
sync::Mutex book;
WatchedRun* runs = nullptr;
WatchedWait* waits = nullptr;

const Worker* this_thread() noexcept {
  const Worker* worker = worker_slot();
  while (worker != nullptr && worker->outer != nullptr) worker = worker->outer;
  return worker;
}

}  // namespace

template <class Entry>
void WatchBook::enter(Entry*& list, Entry& entry) noexcept {
  entry.next_ = list;
  if (list != nullptr) list->previous_ = &entry;
  list = &entry;
}

template <class Entry>
void WatchBook::leave(Entry*& list, Entry& entry) noexcept {
  const sync::Lock lock(book);
  (entry.previous_ != nullptr ? entry.previous_->next_ : list) = entry.next_;
  if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
}

// The latest of which this is true.
template <class Entry, class Condition>
const Entry* WatchBook::latest(const Entry* list, Condition&& condition) noexcept {
  while (list != nullptr && !condition(*list)) list = list->next_;
  return list;
}

WatchedRun::WatchedRun(const FutureState& state) noexcept
    : state_(state), thread_(this_thread()) {
  const sync::Lock lock(book);
  WatchBook::enter(runs, *this);
}
WatchedRun::~WatchedRun() { WatchBook::leave(runs, *this); }

// Looks and enters under one lock: of waits that close a cycle from several sides at once only the
// last one finds it closed.
WatchedWait::WatchedWait(const FutureState& awaited)
    : awaited_(awaited), thread_(this_thread()) {
  const sync::Lock lock(book);
  cycle_ = find_cycle();
  WatchBook::enter(waits, *this);
}
WatchedWait::~WatchedWait() { WatchBook::leave(waits, *this); }

const WatchedRun* WatchedWait::run_of(const FutureState& state) noexcept {
  return WatchBook::latest(runs, [&](const WatchedRun& run) { return &run.state_ == &state; });
}

const WatchedRun* WatchedWait::innermost_run(const Worker* thread) noexcept {
  return WatchBook::latest(runs, [&](const WatchedRun& run) { return run.thread_ == thread; });
}

const WatchedWait* WatchedWait::wait_of(const Worker* thread) noexcept {
  return WatchBook::latest(waits, [&](const WatchedWait& wait) { return wait.thread_ == thread; });
}

WaitCycle::Task WatchedWait::describe(const Worker* thread) {
  const WatchedRun* const run = innermost_run(thread);
  return {run != nullptr ? std::string(run->state_.name()) : "a task without a Future",
          thread->index};
}

// Who waits for what runs on a thread waits for all that this thread waits for. Other cycles, which
// have been told before, may be on the way: so no more steps than there are waits, and this one.
WaitCycle WatchedWait::find_cycle() const {
  WaitCycle cycle;
  const WatchedWait* others = waits;
  for (const WatchedWait* wait = this; wait != nullptr; others = others->next_) {
    if (wait->awaited_.is_ready()) break;
    cycle.tasks.push_back(describe(wait->thread_));
    const WatchedRun* const run = run_of(wait->awaited_);
    if (run == nullptr) break;
    if (run->thread_ == thread_) return cycle;
    if (others == nullptr) break;
    wait = wait_of(run->thread_);
  }
  return {};
}

}  // namespace handoff::inline HANDOFF_ABI::detail
