// SPDX-License-Identifier: MIT
//
// Threads that come and go, and those that stand in for others.
#include "worker_threads.hpp"

#include <handoff/core/internal/take_one.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/statistics.hpp>
#include <handoff/pool/thread_pool_options.hpp>
#include <new>
#include <system_error>

#include "../sync/internal/seen_sanitizer.hpp"
#include "crew.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

WorkerThreads::WorkerThreads(const ThreadPoolOptions& options, Crew& crew, std::size_t core)
    : options_(options),
      crew_(crew),
      core_(core),
      where_(sync::CpuSet::of_this_thread()),
      threads_(crew.size()),
      quitting_(false),
      surplus_(0) {}

void WorkerThreads::start(Duty& duty) {
  duty_ = &duty;
  const bool grows = options_.mode == PoolMode::cached;
  for (std::size_t i = crew_.width(); i > core_; --i) {
    sleepers().begin_absent(crew_.worker(i - 1).place);
  }
  width_ = grows ? crew_.width() : 0;
  for (std::size_t i = 0; i < core_; ++i) {
    try {
      start(i, false);
    } catch (const std::system_error& error) {
      // Nobody would ever run a task; or it is not the system's fault, but that of `cpus`.
      if (i == 0 || error.code() == std::errc::invalid_argument) throw;
      // Fewer workers are a slower pool, not a broken one; width() tells. Or they come later.
      if (!grows) return;
      sleepers().begin_absent(crew_.worker(i).place);
      // equivalent(delete): what follows is for pools that do not grow, and these have returned
      continue;
    }
    if (!grows) width_ = i + 1;
  }
}

// Gives the worker a thread. `called`: it counts as searching already.
void WorkerThreads::start(std::size_t index, bool called) {
  sync::ThreadOptions thread{.name = options_.name, .cpus = called ? &where_ : nullptr};
  if (!options_.cpus.empty()) thread.cpu = options_.cpus[index % options_.cpus.size()];
  // equivalent(delete): the assignment below joins it, too
  threads_[index].join();  // the worker's last one is about to end
  Worker& worker = *crew_.at(index);
  sync::relaxed<std::size_t>& count = worker.spare ? stand_ins_ : present_;
  count.add(1);
  started_.add(1);
  try {
    threads_[index] = sync::Thread(thread, [this, &worker, called]() noexcept {
      worker.spare ? stand_in(worker) : live(worker, called);
    });
  } catch (...) {
    count.subtract(1);
    started_.subtract(1);
    throw;
  }
}

void WorkerThreads::live(Worker& worker, bool called) noexcept {
  do {
    duty_->serve(worker, called);
    called = true;  // if it stays, it searches
  } while (!may_end(worker));
}

void WorkerThreads::stand_in(Worker& spare) noexcept {
  duty_->serve(spare, true);
  // equivalent(swap): a figure of the moment
  stand_ins_.subtract(1);
  crew_.end_spare(spare);
}

bool WorkerThreads::may_end(Worker& worker) noexcept {
  if (is_over()) return true;
  const auto stay = [this, &worker]() noexcept {
    return is_over() || duty_->has_work() || duty_->has_work_for(worker);
  };
  if (sleepers().leave(worker.place, stay)) return true;
  present_.add(1);
  return false;
}

void WorkerThreads::stop() noexcept {
  sync::tell_given(&quitting_);
  quitting_.store(true, order::release);  // order: release pairs with see_the_end()
  {
    const sync::Lock lock(calling_);
  }  // nobody starts a thread from here on
  sleepers().forget_absent();  // equivalent(swap): both before the threads are joined
  sleepers().wake_all();
  threads_.clear();  // joins
}

bool WorkerThreads::is_somebody_wanted() noexcept {
  return sleepers().wanted_for([this]() noexcept { return is_over() || duty_->has_work(); });
}

void WorkerThreads::call(Worker& worker) {
  if (sleepers().call(worker.place)) {
    start_called(worker.place);
  } else {
    sleepers().wake(worker.place);
  }
}

// If there is no thread to be had the others go on without; nobody asks again for some time.
void WorkerThreads::start_absent(Sleepers::Place& place) noexcept {
  try {
    start_called(place);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

void WorkerThreads::start_called(Sleepers::Place& place) {
  try {
    const sync::Lock lock(calling_);
    // Set before stop() takes the lock.
    if (!is_over()) return start(place.number, true);
  } catch (...) {
    not_started(place);
    throw;
  }
  not_started(place);
}

void WorkerThreads::not_started(Sleepers::Place& place) noexcept {
  sleepers().put_back(place);
  if (is_somebody_wanted()) sleepers().wake_present();
}

bool WorkerThreads::lend() noexcept {
  Worker* const spare = crew_.take_spare();
  if (spare == nullptr) return false;
  // equivalent(swap): a figure of the moment
  lent_.add(1);
  sleepers().begin_absent(spare->place);
  if (is_somebody_wanted()) wake_one();
  return true;
}

// One stand-in is as good as another.
void WorkerThreads::take_back() noexcept {
  if (Sleepers::Place* const absent = sleepers().withdraw_from(crew_.width())) {
    crew_.end_spare(*crew_.at(absent->number));
  } else {
    surplus_.fetch_add(1, order::relaxed);  // order: relaxed, the lock below orders it
    sleepers().wake_from(crew_.width());
  }
}

bool WorkerThreads::take_surplus() noexcept { return take_one(surplus_) != 0; }

bool WorkerThreads::take_leave() noexcept {
  std::size_t present = present_.get();
  while (present > core_) {
    if (present_.exchange_if(present, present - 1)) return true;
  }
  return false;
}

sync::Deadline WorkerThreads::leave_at() const noexcept {
  // One thread too many may be here for a while, or a sleep be cut short.
  const bool may_leave = present_.get() > core_;
  return may_leave ? sync::deadline_after(options_.idle_time) : sync::no_deadline;
}

void WorkerThreads::add_to(PoolStatistics& statistics) const noexcept {
  statistics.threads = present_.get() + stand_ins_.get();
  statistics.started = started_.get();
  statistics.lent = lent_.get();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
