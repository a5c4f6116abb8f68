// SPDX-License-Identifier: MIT
//
// Runs over an index range on a pool, started ones and those that are waited for.
#include <handoff/core/internal/attempt.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/pool_run.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/detail/waited_run.hpp>

#include "engine_parts.hpp"
#include "own_tasks.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

Status PoolRun::start(Engine& engine, std::size_t count, BulkWork& work,
                      const RunOptions& options) {
  engine_ = &engine;
  work_ = &work;  // equivalent(swap) all: both before the hand-over
  options_ = keep_in(stop_, options);
  members_.store(1, order::relaxed);  // order: relaxed, published by the hand-over
  range_.open(count, engine.width(), options.block);
  TaskPlace place = engine.reserve();
  if (place) place.fill(PointerMaker<PoolRun>(this, kFirst)).publish();
  return place.status();
}

Outcome PoolRun::begin(Task& task) {
  task.as<PoolRun*>()->take_part();
  return Outcome::done;
}

// Nobody has begun: all of it is dropped.
Outcome PoolRun::drop_all(Task& task, Outcome why) noexcept {
  PoolRun& run = *task.as<PoolRun*>();
  if (why == Outcome::expired) {
    run.range_.expire_rest();
  } else {
    run.range_.cancel_rest();
  }
  run.leave();
  return why;
}

// The others do its part.
Outcome PoolRun::drop_member(Task& task, Outcome why) noexcept {
  task.as<PoolRun*>()->leave();
  return why;
}

// Null: a full pool has the caller run it, which has no deque.
void PoolRun::take_part() noexcept {
  Engine& engine = *engine_;
  Worker* const worker = engine.worker_here();
  const auto block = [this](IndexRange range) { work_->block(range.first, range.last); };
  const auto call = [this, worker] {
    if (worker != nullptr) call_next(*worker);
  };
  range_.work_and_call(worker == nullptr ? 0 : worker->member(), block, options_.until, call);
  if (worker != nullptr) run_own(*worker);
  leave();
}

// A member that was called from here and has not been stolen has nothing to do but to leave.
void PoolRun::run_own(Worker& worker) noexcept {
  OwnTasks own(worker);
  const auto is_ours = [this](Task& task) noexcept {
    return &task.kind_here() == &kMember && task.as<PoolRun*>() == this;
  };
  // order: relaxed, this member is counted: nobody tells before it leaves.
  // equivalent(bound): the worker runs what is left in its deque next, or now: speed
  while (members_.load(order::relaxed) > 1) {
    Task* const task = own.next(is_ours);
    if (task == nullptr) return;
    engine_->runner().run(worker, *task);
  }
}

void PoolRun::call_next(Worker& worker) {
  members_.fetch_add(1, order::relaxed);  // order: relaxed, by one that is counted
  const auto call = [&] {
    TaskPlace place = engine_->admission().reserve_in(worker);  // never refused
    place.fill(PointerMaker<PoolRun>(this, kMember)).publish();
  };
  // order: relaxed, as above.
  call_or(call, [this]() noexcept { members_.fetch_sub(1, order::relaxed); });
}

void PoolRun::leave() noexcept {
  // order: acq_rel, each release pairs with the acquire of the last one: what the blocks did.
  if (members_.fetch_sub(1, order::acq_rel) != 1) return;
  const Tally tally = range_.settle();
  work_->ended(tally);
}

Tally run_in_pool(Engine& engine, std::size_t count, BlockCall call, const void* work,
                  const RunOptions& options) noexcept {
  const auto block = [call, work](IndexRange range) { call(work, range); };
  return WaitedRun(engine, count, block, options, AtFailure::others_run).run();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
