// SPDX-License-Identifier: MIT
//
// The heap of moments, the thread that waits for the earliest, and how a timed task ends.
#include "timers.hpp"

#include <chrono>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <new>
#include <system_error>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

using sync::Lock;
using sync::order;

namespace {

// Without memory for a place in the queue, or a thread for its worker: how long until the next try.
constexpr std::chrono::milliseconds kTryAgain{1};

// The next moment of a series, after `moment`, which has come.
sync::Deadline next_moment(sync::Deadline moment, TimedTask::Duration period) noexcept {
  const sync::Deadline now = sync::clock::now();
  if (period >= sync::no_deadline - now) return sync::no_deadline;
  return moment + ((now - moment) / period + 1) * period;
}

}  // namespace

void Timers::retain() noexcept {
  references_.fetch_add(1, order::relaxed);  // order: relaxed, the caller has one
}

void Timers::release() noexcept {
  // order: acq_rel, every use by others happens before the end.
  if (references_.fetch_sub(1, order::acq_rel) == 1) delete this;
}

TimedPlace::TimedPlace(Timers& timers) : timers_(timers.prepare() ? &timers : nullptr) {}

void TimedPlace::give_up() noexcept { timers_->give_up(); }

void TimedPlace::fill(TimedTask& task) noexcept {
  Timers& timers = *std::exchange(timers_, nullptr);
  // equivalent(swap): the pool has its reference as long as the call goes on
  timers.retain();  // for the handle
  timers.add(task);
}

// ---- The heap, under the lock ------------------------------------------------------------------

bool Timers::comes_before(TimedTask& a, TimedTask& b) noexcept {
  const TimedTask::Times& first = times(a);
  const TimedTask::Times& second = times(b);
  // equivalent(bound): numbers are never equal
  return first.when != second.when ? first.when < second.when : first.number < second.number;
}

void Timers::put(std::size_t place, TimedTask& task) noexcept {
  book_.write().heap[place] = &task;  // equivalent(swap): under the lock
  times(task).place = place;
}

void Timers::rise(std::size_t place, TimedTask& task) noexcept {
  const std::vector<TimedTask*>& heap = book_.read().heap;
  while (place != 0 && comes_before(task, *heap[(place - 1) / 2])) {
    put(place, *heap[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(place, task);
}

void Timers::sink(std::size_t place, TimedTask& task) noexcept {
  const std::vector<TimedTask*>& heap = book_.read().heap;
  for (;;) {
    std::size_t next = 2 * place + 1;
    // equivalent(bound): the entry behind the last one is still the task that sinks, which does not
    // come before itself
    if (next >= heap.size()) break;
    // equivalent(bound): the entry behind the last one is still the task that sinks, which stops
    // there too
    if (next + 1 < heap.size() && comes_before(*heap[next + 1], *heap[next])) ++next;
    if (!comes_before(*heap[next], task)) break;
    put(place, *heap[next]);
    place = next;
  }
  put(place, task);
}

// True if it is the first now. There is room (TM-2).
bool Timers::push(TimedTask& task) noexcept {
  Book& book = book_.write();
  times(task).state = State::waiting;  // equivalent(swap): under the lock
  times(task).number = ++book.numbers;  // equivalent(swap): both before rise() looks at the number
  book.heap.push_back(&task);
  rise(book.heap.size() - 1, task);
  if (times(task).is_counted) ++book.figures.waiting;
  return book.heap.front() == &task;
}

void Timers::take_out(TimedTask& task) noexcept {
  Book& book = book_.write();
  const std::size_t place = times(task).place;
  TimedTask& last = *book.heap.back();
  book.heap.pop_back();
  if (&last != &task) {
    sink(place, last);
    rise(times(last).place, last);
  }
  if (times(task).is_counted) --book.figures.waiting;
}

// Its closure is this thread's from here on.
void Timers::begin_end(TimedTask& task) noexcept {
  times(task).state = State::ending;  // equivalent(swap): under the lock
  times(task).runner = sync::this_thread_id();
}

// Takes out one that waits, and will not be handed over.
void Timers::take_to_end(TimedTask& task) noexcept {
  take_out(task);  // equivalent(swap): under the lock
  begin_end(task);
  if (times(task).is_counted) ++book_.write().figures.cancelled;
}

// ---- In ----------------------------------------------------------------------------------------

bool Timers::prepare() {
  const Lock lock(mutex_);
  Book& book = book_.write();
  if (book.closed) return false;
  if (book.tasks == book.heap.capacity()) {
    constexpr std::size_t at_first = 16;
    const sync::MadeForAll unseen;
    book.heap.reserve(book.tasks == 0 ? at_first : 2 * book.tasks);
  }
  if (!book.has_thread) {
    const sync::ThreadOptions options{.name = pool_.thread_name, .cpus = &pool_.where};
    thread_ = sync::Thread(options, [this]() noexcept { serve(); });
    book.has_thread = true;
  }
  ++book.tasks;
  ++book.coming;
  return true;
}

void Timers::give_up() noexcept {
  const Lock lock(mutex_);
  --book_.write().tasks;
  --book_.write().coming;
}

void Timers::add(TimedTask& task) noexcept {
  bool is_first = false;
  bool closed = false;
  {
    const Lock lock(mutex_);
    Book& book = book_.write();
    closed = book.closed;
    if (!closed) {
      is_first = push(task);  // equivalent(swap): under the lock
      --book.coming;
    } else {
      // equivalent(delete): nobody has the handle yet, and end() goes on to the next state
      begin_end(task);
      if (times(task).is_counted) ++book.figures.cancelled;
    }
  }
  if (is_first) news_.notify_one();
  if (!closed) return;
  end(task);
  const Lock lock(mutex_);
  --book_.write().coming;  // close() may return from here on
}

// ---- The thread --------------------------------------------------------------------------------

void*& Timers::served_here() noexcept {
  struct Slot;
  return sync::thread_slot<void*, Slot>::get();
}

void Timers::serve() noexcept {
  served_here() = pool_.self;
  for (;;) {
    sync::Deadline next = sync::no_deadline;
    if (TimedTask* const due = take_due(next)) {
      hand_over(*due);
      continue;
    }
    const auto is_news_or_end = [this, next]() noexcept { return is_news(next); };
    (void)news_.await(is_news_or_end, next, {}, sync::Spin::never, "idle");
    const Lock lock(mutex_);
    if (book_.read().closed) return;
  }
}

// Null if nothing is due before `next`.
TimedTask* Timers::take_due(sync::Deadline& next) noexcept {
  const Lock lock(mutex_);
  if (book_.read().closed || book_.read().heap.empty()) return nullptr;
  TimedTask& first = *book_.read().heap.front();
  next = times(first).when;
  if (next > sync::clock::now()) return nullptr;
  take_out(first);  // equivalent(swap): under the lock
  times(first).state = State::due;
  return &first;
}

bool Timers::is_news(sync::Deadline awaited) noexcept {
  const Lock lock(mutex_);
  const Book& book = book_.read();
  return book.closed || (!book.heap.empty() && times(*book.heap.front()).when < awaited);
}

void Timers::hand_over(TimedTask& due) noexcept {
  due.come();
  try {
    pool_.hand_over(pool_.self, due);
    return;
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
  // Also what was called off, or closed, meanwhile: its closure does not end here (TM-5).
  const Lock lock(mutex_);
  times(due).when = sync::clock::now() + kTryAgain;
  (void)push(due);
}

// ---- The workers' side -------------------------------------------------------------------------

Outcome Timers::run(TimedTask& task) {
  Timers& timers = task.timers_;
  const Outcome why = timers.begin(task);
  if (why != Outcome::done) {
    timers.end(task);
    return why;
  }
  const bool is_done = attempt([&] { task.call(); },
                               [&]() noexcept {
                                 timers.pool_.failed(timers.pool_.self, task.options_.name);
                                 sync::tell_given(&task);
                               });
  timers.end_run(task);
  return is_done ? Outcome::done : Outcome::failed;
}

// Only a pool that is being closed drops, so a series is over as well.
Outcome Timers::drop(TimedTask& task, Outcome why) noexcept {
  Timers& timers = task.timers_;
  {
    const Lock lock(timers.mutex_);
    timers.begin_end(task);
  }
  timers.end(task);
  return why;
}

// done: it may begin. Else it is over, of a series the whole.
Outcome Timers::begin(TimedTask& task) noexcept {
  const Outcome allowed = whether_to_begin(task.options_.until);
  const Lock lock(mutex_);
  TimedTask::Times& now = times(task);
  const Outcome why = now.cancelled ? Outcome::cancelled : allowed;
  // equivalent(swap): under the lock
  now.state = why == Outcome::done ? State::running : State::ending;
  now.runner = sync::this_thread_id();
  return why;
}

void Timers::end_run(TimedTask& task) noexcept {
  bool is_first = false;
  if (!wait_again(task, is_first)) {
    end(task);
  } else if (is_first) {
    news_.notify_one();
  }
}

bool Timers::wait_again(TimedTask& task, bool& is_first) noexcept {
  const Lock lock(mutex_);
  TimedTask::Times& now = times(task);
  if (!task.is_series() || now.cancelled || book_.read().closed) {
    begin_end(task);
    return false;
  }
  now.when = now.moment = next_moment(now.moment, task.period_);
  is_first = push(task);
  return true;
}

// Ends a task whose state is `ending`.
void Timers::end(TimedTask& task) noexcept {
  task.discard();
  bool handle_gone = false;
  {
    const Lock lock(mutex_);
    --book_.write().tasks;  // equivalent(swap) all: under the lock
    times(task).state = State::over;
    handle_gone = times(task).handle_gone;
  }
  // Somebody keeps all this meanwhile: the handle that cancelled it, or the pool.
  if (handle_gone) {
    task.destroy();
  } else {
    ended_.notify_all();
  }
}

// ---- The handle's side -------------------------------------------------------------------------

Timers::CalledOff Timers::call_off(TimedTask& task) noexcept {
  {
    const Lock lock(mutex_);
    TimedTask::Times& now = times(task);
    const bool more_to_come =
        now.state == State::waiting || now.state == State::due ||
        (now.state == State::running && task.is_series() && !book_.read().closed);
    if (now.cancelled || !more_to_come) return CalledOff::no;
    now.cancelled = true;
    if (now.state != State::waiting) return CalledOff::by_its_worker;
    take_to_end(task);
  }
  end(task);
  return CalledOff::here;
}

bool Timers::cancel_and_wait(TimedTask& task) noexcept {
  const CalledOff called_off = call_off(task);
  if (called_off != CalledOff::here) await_end(task);
  return called_off != CalledOff::no;
}

void Timers::await_end(TimedTask& task) noexcept {
  (void)ended_.await([this, &task]() noexcept {
    const Lock lock(mutex_);
    const TimedTask::Times& now = times(task);
    const bool is_at_work = now.state == State::running || now.state == State::ending;
    return !is_at_work || now.runner == sync::this_thread_id();
  });
}

void Timers::leave(TimedTask& task) noexcept {
  bool over = false;
  {
    const Lock lock(mutex_);
    times(task).handle_gone = true;  // equivalent(swap): under the lock
    over = times(task).state == State::over;
  }
  if (over) task.destroy();
}

// ---- The end -----------------------------------------------------------------------------------

// One that waits, to be ended by the caller; null if none does.
TimedTask* Timers::take_last() noexcept {
  const Lock lock(mutex_);
  if (book_.read().heap.empty()) return nullptr;
  TimedTask& last = *book_.read().heap.back();
  take_to_end(last);
  return &last;
}

// The end of one may call off others, or close again.
void Timers::end_waiting() noexcept {
  while (TimedTask* const task = take_last()) end(*task);
}

void Timers::close() noexcept {
  {
    const Lock lock(mutex_);
    book_.write().closed = true;
  }
  end_waiting();
  news_.notify_one();
  thread_.join();
  end_waiting();  // what it could not hand over
  for (;;) {  // somebody makes a closure, which ends here and now
    {
      const Lock lock(mutex_);
      if (book_.read().coming == 0) return;
    }
    sync::yield();
  }
}

Timers::Figures Timers::figures() noexcept {
  const Lock lock(mutex_);
  return book_.read().figures;
}

}  // namespace detail

// ---- What a handle asks ------------------------------------------------------------------------

bool TimerHandle::call_off() noexcept { return task_->timers().cancel(*task_); }

bool TimerHandle::call_off_and_wait() noexcept { return task_->timers().cancel_and_wait(*task_); }

void TimerHandle::reset() noexcept {
  if (task_ == nullptr) return;
  detail::Timers& timers = task_->timers();
  timers.leave(*std::exchange(task_, nullptr));
  timers.release();
}

}}  // namespace handoff::HANDOFF_ABI
