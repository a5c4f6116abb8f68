// SPDX-License-Identifier: MIT
//
// The functions of a pool that wait for their moment, and the thread that hands them over when it
// has come. Not for users, who have ThreadPool::execute_after() and its kin.
//
// A heap under a lock, and one thread that sleeps until the earliest moment: on the monotonic
// clock, so steps of the wall clock do not touch it, and without a wake-up in between. It is woken
// only by what comes earlier than all that wait. What is due becomes a task like any other; the
// closure stays where it is, so neither a run nor the next one of a series allocates.
//
// Invariants, all under the lock
//   TM-1  A task is in the heap if, and only if, its state is `waiting`.
//   TM-2  The heap has room for all tasks that are not over: to wait again needs no memory.
//   TM-3  The closure is touched without the lock by one party: whoever made the state `running` or
//         `ending`, or cancelled it while it waited.
//   TM-4  A task is freed by whoever finds second that it is over and that its handle is gone.
//
// Concurrency: anybody, but close(), which is the pool's. Handles keep the Timers alive, so they
//   may outlive the pool.
// Blocks: close(), for the thread; await_end(). Allocates: prepare(), which also starts the thread.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Timers;

// A function and its moments.
class TimedTask {
 public:
  using Duration = sync::clock::duration;

  // `period` zero: once.
  TimedTask(Timers& timers, sync::Deadline moment, Duration period) noexcept
      : timers_(timers), period_(period), times_(Times{.when = moment, .moment = moment}) {}
  TimedTask(const TimedTask&) = delete;
  TimedTask& operator=(const TimedTask&) = delete;

  Timers& timers() const noexcept { return timers_; }
  bool is_series() const noexcept { return period_ != Duration::zero(); }

 protected:
  virtual ~TimedTask() = default;

 private:
  friend class Timers;
  template <class>
  friend struct Books;

  enum class State : std::uint8_t {
    waiting,  // in the heap
    due,  // handed over, not begun
    running,
    ending,  // its closure is being destroyed
    over,
  };
  struct Times {
    sync::Deadline when;  // it leaves the heap
    sync::Deadline moment;  // it was asked for; later than that where memory was short
    std::uint64_t number = 0;  // of equal moments the first comes first
    std::size_t place = 0;  // in the heap
    State state = State::waiting;
    bool cancelled = false;
    bool handle_gone = false;
    sync::ThreadId runner = nullptr;
  };

  virtual void call() = 0;
  // Ends the closure.
  virtual void discard() noexcept = 0;
  // Ends all of it.
  virtual void destroy() noexcept = 0;

  Timers& timers_;
  const Duration period_;
  sync::cell<Times> times_;
};

template <class F>
class TimedFunction final : public TimedTask {
 public:
  template <class Given>
  TimedFunction(Timers& timers, sync::Deadline moment, Duration period, Given&& function)
      : TimedTask(timers, moment, period), function_(std::forward<Given>(function)) {}
  ~TimedFunction() override {}

 private:
  void call() override { static_cast<void>(detail::invoke(function_)); }
  void discard() noexcept override { std::destroy_at(std::addressof(function_)); }
  void destroy() noexcept override { RawBox<TimedFunction>::destroy(this); }

  union {
    F function_;
  };
};

class Timers {
 public:
  // The pool, whose workers run what is due.
  struct Pool {
    void* self;
    // Throws std::bad_alloc, and then the task is offered again later.
    void (*hand_over)(void* self, TimedTask& due);
    std::string thread_name;
    sync::CpuSet where;
  };
  struct Figures {
    std::uint64_t waiting = 0;  // tasks whose moment has not come; not of a series
    std::uint64_t cancelled = 0;  // of those
  };

  explicit Timers(Pool pool) : pool_(std::move(pool)), references_(1) {}

  struct Release {
    void operator()(Timers* timers) const noexcept { timers->release(); }
  };
  void retain() noexcept;
  void release() noexcept;

  // Room for a task, which the caller makes and adds at once, or gives up. False: closed. Throws
  // std::bad_alloc, and std::system_error if there is no thread to be had.
  bool prepare();
  void give_up() noexcept;
  void add(TimedTask& task) noexcept;

  // The workers' side: what becomes of a task that was handed over.
  static Outcome run(TimedTask& task);
  static Outcome drop(TimedTask& task, Outcome why) noexcept;

  // The handle's side. True: this call ended it, so that the function does not begin any more.
  bool cancel(TimedTask& task) noexcept;
  // The function, if it ran, has ended; or it is the caller's.
  void await_end(TimedTask& task) noexcept;
  void leave(TimedTask& task) noexcept;

  // What waits is cancelled; nothing is handed over from here on.
  void close() noexcept;

  Figures figures() noexcept;

 private:
  template <class>
  friend struct Books;

  using State = TimedTask::State;
  struct Book {
    std::vector<TimedTask*> heap;
    std::size_t tasks = 0;  // that are not over, or will be added
    std::size_t coming = 0;  // that will be added
    std::uint64_t numbers = 0;
    Figures figures;
    bool closed = false;
    bool has_thread = false;
  };

  ~Timers() = default;

  static TimedTask::Times& times(TimedTask& task) noexcept { return task.times_.write(); }

  // Under the lock.
  static bool comes_before(TimedTask& a, TimedTask& b) noexcept;
  void put(std::size_t place, TimedTask& task) noexcept;
  void rise(std::size_t place, TimedTask& task) noexcept;
  void sink(std::size_t place, TimedTask& task) noexcept;
  bool push(TimedTask& task) noexcept;
  void take_out(TimedTask& task) noexcept;
  bool wait_again(TimedTask& task, bool& is_first) noexcept;

  void serve() noexcept;
  TimedTask* take_due(sync::Deadline& next) noexcept;
  void hand_over(TimedTask& due) noexcept;
  bool is_news(sync::Deadline awaited) noexcept;
  bool begin(TimedTask& task) noexcept;
  void end_run(TimedTask& task) noexcept;
  void end(TimedTask& task) noexcept;

  const Pool pool_;
  sync::atomic<std::uint32_t> references_;  // handles, and the pool
  sync::Mutex mutex_;
  sync::cell<Book> book_;
  sync::EventCount news_;  // for the thread: something comes earlier, or the end
  sync::EventCount ended_;  // for await_end()
  sync::Thread thread_;  // made under the lock, joined by close()
};

// The task in a pool's queue that leads to a timed one.
struct TimedKind {
  static Outcome run(Task& task) { return Timers::run(*task.as<TimedTask*>()); }
  static Outcome drop(Task& task, Outcome why) noexcept {
    return Timers::drop(*task.as<TimedTask*>(), why);
  }
  [[gnu::visibility("hidden")]] static constexpr TaskKind kind{&run, &drop, nullptr};
};

// A period, at least a nanosecond and at most what the clock can count.
template <class Rep, class Period>
constexpr sync::clock::duration whole_nanoseconds(
    std::chrono::duration<Rep, Period> period) noexcept {
  using Duration = sync::clock::duration;
  using Wide = std::chrono::duration<long double, Duration::period>;
  if (Wide(period) >= Wide(Duration::max())) return Duration::max();
  return detail::max(std::chrono::duration_cast<Duration>(period), Duration(1));
}

// Null: closed, and the function is still the caller's. Else the caller's share in the task.
template <class F>
TimedTask* add_timed(Timers& timers, sync::Deadline moment, TimedTask::Duration period,
                     F&& function) {
  RawBox<TimedFunction<std::decay_t<F>>> box;
  if (!timers.prepare()) return nullptr;
  struct GiveUp {
    Timers* timers;
    ~GiveUp() {
      if (timers != nullptr) timers->give_up();
    }
  } prepared{&timers};
  TimedTask* const task = box.make(timers, moment, period, std::forward<F>(function));
  prepared.timers = nullptr;
  timers.retain();  // for the handle
  timers.add(*task);
  return task;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
