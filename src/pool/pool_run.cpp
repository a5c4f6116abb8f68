// SPDX-License-Identifier: MIT
//
// Runs over an index range on a pool, started ones and those that are waited for.
#include <handoff/core/detail/attempt.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/pool_run.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/sync/cache_line.hpp>

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
  // order: relaxed, as above.
  helpers_.store(static_cast<std::ptrdiff_t>(engine.width()) - 1, order::relaxed);
  range_.open(count, engine.width(), options.block);
  TaskPlace place = engine.reserve();
  return place.fill(PointerMaker<PoolRun>(this, kFirst));
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
  if (worker != nullptr) call_next(*worker);
  range_.work(worker == nullptr ? 0 : worker->member(), &call_bulk_work, &work_, options_.until,
              [](std::size_t) noexcept {});
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

void PoolRun::call_next(Worker& worker) noexcept {
  // order: relaxed, a number of helpers.
  if (!range_.left() || helpers_.fetch_sub(1, order::relaxed) <= 0) return;
  members_.fetch_add(1, order::relaxed);  // order: relaxed, by one that is counted
  Engine& engine = *engine_;
  const auto call = [&] {
    TaskPlace place = engine.admission().reserve_in(worker);  // never refused
    (void)place.fill(PointerMaker<PoolRun>(this, kMember));
  };
  // order: relaxed, as above. No memory: the run has members enough.
  (void)attempt(call, [this]() noexcept { members_.fetch_sub(1, order::relaxed); });
}

void PoolRun::leave() noexcept {
  // order: acq_rel, each release pairs with the acquire of the last one: what the blocks did.
  if (members_.fetch_sub(1, order::acq_rel) != 1) return;
  const Tally tally = range_.settle();
  work_->ended(tally);
}

namespace {

// On the stack of its caller: all members leave before the group's wait returns.
class WaitedRun {
 public:
  WaitedRun(Engine& engine, std::size_t count, BlockCall call, const void* work,
            const RunOptions& options) noexcept
      : call_(call),
        work_(work),
        options_(options),
        helpers_(static_cast<std::ptrdiff_t>(engine.width())),
        group_(engine) {
    range_.open(count, engine.width() + 1, options.block);
  }

  Tally run() noexcept {
    take_part();
    (void)group_.wait();  // nothing fails in it; what is dropped is done by the others
    return range_.settle();
  }

 private:
  void take_part() noexcept {
    Worker* const worker = group_.worker_here();
    call_next(worker);
    range_.work(worker == nullptr ? 0 : worker->member(), call_, work_, options_.until,
                [](std::size_t) noexcept {});
  }

  void call_next(Worker* worker) noexcept {
    // order: relaxed, a number of helpers.
    // equivalent(bound): one helper more may be called, which finds the blocks that others leave
    if (worker == nullptr || !range_.left() || helpers_.fetch_sub(1, order::relaxed) <= 0) return;
    const auto call = [&] {
      const auto part = [this]() noexcept { take_part(); };
      ClosureMaker<decltype(part)> maker;
      TaskPlace place = group_.reserve_in(*worker);  // never refused
      (void)place.fill(maker, part);
    };
    (void)attempt(call);  // no memory: the run has members enough
  }

  const BlockCall call_;
  const void* const work_;
  const RunOptions& options_;
  sync::atomic<std::ptrdiff_t> helpers_;  // that may still be called
  alignas(sync::destructive_span) RangeRun range_;
  GroupTasks group_;
};

}  // namespace

Tally run_in_pool(Engine& engine, std::size_t count, BlockCall call, const void* work,
                  const RunOptions& options) noexcept {
  return WaitedRun(engine, count, call, work, options).run();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
