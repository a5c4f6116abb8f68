// SPDX-License-Identifier: MIT
//
// The life of a worker: running, searching, sleeping.
#include "work_search.hpp"

#include <chrono>
#include <handoff/pool/thread_pool_options.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "../probe/internal/probes.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void WorkSearch::serve(Worker& worker, bool called) noexcept {
  workplace() = &worker;
  HANDOFF_PROBE(worker_begin, worker.index);
  begin_service(worker, called);
  worker.spare ? stand_in(worker) : work(worker, called);
  if (options_.on_stop) {
    threads_.see_the_end();
    options_.on_stop(worker.index);
  }
  HANDOFF_PROBE(worker_end, worker.index);
  workplace() = nullptr;
}

// A hook takes its time, and may wait for tasks of the pool: so meanwhile nobody is to rely on this
// worker's search.
void WorkSearch::begin_service(const Worker& worker, bool called) noexcept {
  if (!options_.on_start) return;
  if (called) {
    (void)sleepers_.end_search();
    if (threads_.is_somebody_wanted()) sleepers_.wake_present();
  }
  options_.on_start(worker.index);
  if (called) sleepers_.begin_search();
}

void WorkSearch::work(Worker& worker, bool called) noexcept {
  Task* task = called ? look(worker) : next(worker);
  for (; task != nullptr; task = next(worker)) runner_.run_first(worker, *task);
}

// For a worker that blocks, until it is back, and then until no task is left here for others to
// steal.
void WorkSearch::stand_in(Worker& spare) noexcept {
  Task* task = look(spare);
  while (task != nullptr) {
    runner_.run_first(spare, *task);
    const bool nothing_here = spare.spawned.empty() && spare.claimed.empty();
    task = nothing_here && threads_.take_surplus() ? nullptr : next(spare);
  }
  completion_.tell();  // no search need have said so
}

// Null when the thread ends.
Task* WorkSearch::next(Worker& worker) noexcept {
  Task* const task = backlog_.take(worker);
  return task != nullptr ? task : search(worker);
}

Task* WorkSearch::search(Worker& worker) noexcept {
  sleepers_.begin_search();
  return look(worker);
}

// The worker counts as searching.
Task* WorkSearch::look(Worker& worker) noexcept {
  completion_.tell();
  for (auto slept = Sleepers::Slept::not_at_all;;) {
    // equivalent(negate): only speed: whether it spins before it sleeps
    const bool hopes = slept != Sleepers::Slept::too_long && expects_more(worker);
    // equivalent(negate): only speed: whether it spins before it sleeps
    sync::Backoff backoff(hopes ? sync::spin_policy() : sync::Spin::never);
    sync::Deadline looks_until{};
    do {
      if (Task* const task = backlog_.take(worker)) {
        found_work(worker);
        return task;
      }
      if (threads_.is_over()) {
        (void)sleepers_.end_search();
        return nullptr;
      }
    } while (backoff.snooze() || looks_on(worker, looks_until));
    const bool goes = worker.spare ? threads_.take_surplus()
                                   : slept == Sleepers::Slept::too_long && threads_.take_leave();
    if (goes) {
      found_work(worker);  // what came meanwhile relied on this search
      return nullptr;
    }
    slept = sleep(worker);
    // What kept us awake may be a task that its submitter, on this very CPU, is about to publish.
    if (slept == Sleepers::Slept::not_at_all) sync::yield();
  }
}

// Whether it is worth while to spin. Work that came alone, after a long time, is followed by
// nothing for a long time: then spinning would only take the CPU from the thread that waits for
// that work, if it is this one, and the yields at its end the right to have it at once when next
// woken.
bool WorkSearch::expects_more(const Worker& worker) const noexcept {
  // equivalent(bound negate return_early) all: only speed: a guess whether spinning is worth it
  if (worker.index >= with_cpu_ || options_.spin_for == options_.spin_for.zero()) return false;
  return !worker.rested || worker.finished() - worker.finished_when_woken > 1;
}

// Whether one that has spun in vain looks on for the time that the options give; `until` is set at
// the first call.
bool WorkSearch::looks_on(const Worker& worker, sync::Deadline& until) const noexcept {
  // equivalent(bound): only speed: whether one worker more looks before it sleeps
  if (!(options_.spin_for > options_.spin_for.zero()) || worker.index >= with_cpu_) return false;
  if (sync::spin_policy() == sync::Spin::never) return false;
  if (until == sync::Deadline{}) until = sync::deadline_after(options_.spin_for);
  if (sync::clock::now() >= until) return false;
  sync::pause();  // and no yield, which would cost a whole slice (docs/design/thread_pool.md)
  return true;
}

Sleepers::Slept WorkSearch::sleep(Worker& worker) noexcept {
  // Ten times what it costs to spin in vain; the time that a wake-up takes is part of it.
  constexpr std::chrono::microseconds long_time{200};
  const sync::Deadline deadline = worker.spare ? sync::no_deadline : threads_.leave_at();
  worker.sleeps.add();
  const auto by_seq_cst = [this](std::uint64_t asleep) noexcept {
    return crew_.only_outsiders_hand_over(asleep);
  };
  const auto stay_awake = [this, &worker]() noexcept {
    if (worker.spare && threads_.has_surplus()) return true;
    return threads_.is_over() || backlog_.has_tasks() ||
           (!backlog_.is_paused() && backlog_.has_tasks_for(worker));
  };
  HANDOFF_PROBE(worker_sleep, worker.index);
  const auto since = sync::clock::now();
  const auto slept = sleepers_.sleep(worker.place, by_seq_cst, stay_awake, deadline);
  // equivalent(delete swap): only speed: kept for expects_more(), a guess
  worker.rested = sync::clock::now() - since >= long_time;
  // equivalent(delete): only speed: kept for expects_more(), a guess
  worker.finished_when_woken = worker.finished();
  HANDOFF_PROBE(worker_wake, worker.index);
  return slept;
}

// A worker that searched and found looks whether others should come too. Tasks that were submitted
// while somebody searched woke nobody: they are this one's business.
void WorkSearch::found_work(const Worker& worker) noexcept {
  const auto left = sleepers_.end_search();
  if (left.nobody_searches && left.asleep != 0 && is_more_work(worker, left.asleep)) {
    threads_.wake_one();
  }
}

bool WorkSearch::is_more_work(const Worker& worker, std::uint64_t asleep) noexcept {
  if (!worker.claimed.empty() || backlog_.queues_have_tasks()) return true;
  if (crew_.only_outsiders_hand_over(asleep + 1)) return false;
  sync::asymmetric_fence_heavy();  // partner is the light half in WorkCalls::call_for_pushed()
  return crew_.has_tasks();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
