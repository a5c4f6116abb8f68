// SPDX-License-Identifier: MIT
//
// Which queue a worker looks into first, the pause, and the close of all queues.
#include "backlog.hpp"

#include <handoff/core/misuse.hpp>
#include <handoff/pool/thread_pool_options.hpp>

#include "modes.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

namespace {

std::unique_ptr<TaskSource> make_source(PoolMode mode, bool bounded, Claimer& claimer,
                                        std::size_t workers) {
  switch (mode) {
    case PoolMode::stealing: return make_stealing(claimer, bounded);
    case PoolMode::fixed: return make_fixed(claimer);
    case PoolMode::active: return make_active(claimer, workers, bounded);
    case PoolMode::cached: return make_cached(claimer);
  }
  misuse("ThreadPool: a mode that there is not was asked for");
}

}  // namespace

Backlog::Backlog(const ThreadPoolOptions& options, Crew& crew, WaitingRoom& room,
                 WorkerThreads& threads, const UnqueuedTasks& unqueued)
    : crew_(crew),
      threads_(threads),
      unqueued_(unqueued),
      claimer_(crew, room, threads),
      source_(make_source(options.mode, room.is_bounded(), claimer_, crew.width())),
      notes_(0) {}

Backlog::~Backlog() { delete side_queues_.made(); }

SideQueues* Backlog::side_queues() {
  return side_queues_.get(making_, [this]() -> std::unique_ptr<SideQueues> {
    if (unqueued_.closed()) return nullptr;  // close() may have been here
    auto queues = std::make_unique<SideQueues>(crew_.width());
    // order: relaxed, a worker that does not see it yet sees it after its next look for tasks.
    notes_.fetch_or(kSideQueues, order::relaxed);
    return queues;
  });
}

// After the close, which a thread that would make the side queues sees.
void Backlog::close() noexcept {
  SideQueues* queues = nullptr;
  {
    const sync::Lock lock(making_);
    queues = side_queues_.made();
  }
  source_->close();
  if (queues != nullptr) queues->close();
}

std::uint64_t Backlog::accepted() const noexcept {
  const SideQueues* const queues = side_queues_.look();
  return source_->accepted() + (queues != nullptr ? queues->accepted() : 0);
}

Task* Backlog::take_noted(Worker& worker, std::uint32_t notes) noexcept {
  if ((notes & kPaused) != 0) return nullptr;
  const SideQueues* const queues = side_queues_.look();
  if (queues == nullptr) return source_->next(worker);
  Task* task = nullptr;
  if (queues->high() != nullptr) task = claimer_.claim(*queues->high(), worker, 1);
  SmallTaskQueue* const own = queues->own(worker.index);
  if (task == nullptr && own != nullptr) task = Claimer::claim_unbounded(*own, worker);
  if (task == nullptr) task = source_->next(worker);
  if (task == nullptr && queues->low() != nullptr) task = claimer_.claim(*queues->low(), worker, 1);
  return task;
}

bool Backlog::queues_have_tasks() const noexcept {
  if (source_->has_tasks()) return true;
  const SideQueues* const queues = side_queues_.look();
  return queues != nullptr && queues->has_tasks();
}

bool Backlog::has_tasks_for(const Worker& worker) const noexcept {
  const SideQueues* const queues = side_queues_.look();
  return queues != nullptr && queues->has_tasks_for(worker.index);
}

// A thread that pauses pretends to search: so nobody is woken meanwhile.
void Backlog::pause() noexcept {
  const sync::Lock lock(pausing_);
  if (never_paused_.read() || is_paused()) return;
  // equivalent(swap): only speed: a worker that is woken between the two finds nothing it may take
  threads_.sleepers().begin_search();
  notes_.fetch_or(kPaused, order::relaxed);  // order: relaxed, else one more task begins
}

// Ends the search as if it had found work.
void Backlog::resume() noexcept {
  const sync::Lock lock(pausing_);
  if (!is_paused()) return;
  // order: relaxed, a fence comes before the look
  // equivalent(swap): the look for tasks comes after both
  notes_.fetch_and(~std::uint32_t{kPaused}, order::relaxed);
  (void)threads_.sleepers().end_search();
  if (threads_.is_somebody_wanted()) threads_.wake_one();
  for (std::size_t i = 0; i < crew_.width(); ++i) {
    Worker& worker = crew_.worker(i);
    if (has_tasks_for(worker)) threads_.sleepers().wake(worker.place);
  }
}

void Backlog::resume_for_good() noexcept {
  {
    const sync::Lock lock(pausing_);
    never_paused_.write() = true;
  }
  resume();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
