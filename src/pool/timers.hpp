// SPDX-License-Identifier: MIT
//
// The functions of a pool that wait for their moment, and the thread that submits them when it has
// come.
//
// A heap under a lock, and one thread that sleeps until the earliest moment: on the monotonic
// clock, so steps of the wall clock do not touch it, and without a wake-up in between. It is woken
// only by what comes earlier than all that wait. What is due becomes a task like any other; the
// closure stays where it is, so neither a run nor the next one of a series allocates.
//
// Invariants, all under the lock
//   TM-1  A task is in the heap if, and only if, its state is `waiting`.
//   TM-2  The heap has room for all tasks that are not over: to wait again needs no memory.
//   TM-3  The closure is touched without the lock by one thread: the one that made the state
//         `due` (until it is handed over), `running` or `ending`, or cancelled it while it waited.
//   TM-4  A task is freed once it is over and its handle is gone, by the thread that finds the
//         second.
//   TM-5  A closure ends without the lock, on a thread that serves no other: the caller's of
//         cancel() or close(), or a worker. So its end may call all this again, and wait; a thread
//         that waits for the end of the very closure that it is ending does not.
//
// Concurrency: anybody, but close(), which is the pool's; the end of a closure that it ends may
//   close again. Handles keep the Timers alive, so they may outlive the pool.
// Blocks: close(), for the thread; await_end(). Allocates: prepare(), which also starts the thread.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/timed_task.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Timers {
 public:
  // The pool, whose workers run what is due.
  struct Pool {
    void* self;
    // Throws std::bad_alloc, and std::system_error if the task is for a worker that gets no thread.
    // Then it is offered again later.
    void (*hand_over)(void* self, TimedTask& due);
    std::string thread_name;
    sync::CpuSet where;
    // Keeps the exception that is being handled, of a run of that name.
    void (*failed)(void* self, const char* name) noexcept = nullptr;
  };
  struct Figures {
    std::uint64_t waiting = 0;  // counted tasks whose moment has not come
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
  bool cancel(TimedTask& task) noexcept { return call_off(task) != CalledOff::no; }
  // ... and the function, if it ran, has ended; or it is the caller's.
  bool cancel_and_wait(TimedTask& task) noexcept;
  void leave(TimedTask& task) noexcept;

  // What waits is cancelled, one after the other; nothing is handed over from here on. Not by the
  // thread of the timers.
  void close() noexcept;
  // The pool whose moments the calling thread waits for; null: none.
  static void*& served_here() noexcept;

  Figures figures() noexcept;

 private:
  template <class>
  friend struct Books;

  using State = TimedTask::State;
  // `here`: its closure has ended, and with it perhaps the handle, and the task.
  enum class CalledOff : std::uint8_t { no, here, by_its_worker };
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
  void begin_end(TimedTask& task) noexcept;
  void take_to_end(TimedTask& task) noexcept;
  bool wait_again(TimedTask& task, bool& is_first) noexcept;

  void serve() noexcept;
  TimedTask* take_due(sync::Deadline& next) noexcept;
  TimedTask* take_last() noexcept;
  void hand_over(TimedTask& due) noexcept;
  bool is_news(sync::Deadline awaited) noexcept;
  Outcome begin(TimedTask& task) noexcept;
  void end_run(TimedTask& task) noexcept;
  void end(TimedTask& task) noexcept;
  CalledOff call_off(TimedTask& task) noexcept;
  void await_end(TimedTask& task) noexcept;
  void end_waiting() noexcept;

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
  static TaskName name(Task& task) noexcept {
    return {nullptr, task.as<TimedTask*>()->options().name};
  }
  [[gnu::visibility("hidden")]] static constexpr TaskKind kind{&run, &drop, nullptr, false, &name};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
