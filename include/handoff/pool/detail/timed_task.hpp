// SPDX-License-Identifier: MIT
//
// A function that waits for its moment in a pool, and how it gets there. Not for users, who have
// ThreadPool::post_after() and its kin.
//
// Concurrency: as Timers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/task_options.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/internal/this_thread.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Timers;

// A function, its moments, and what else was said of it.
class TimedTask {
 public:
  using Duration = sync::clock::duration;

  // `period` zero: once.
  TimedTask(Timers& timers, sync::Deadline moment, Duration period, const TaskOptions& options,
            bool is_alarm) noexcept
      : timers_(timers),
        period_(period),
        options_(options),
        times_(Times{.when = moment,
                     .moment = moment,
                     .is_counted = !is_alarm && period == Duration::zero()}) {}
  TimedTask(const TimedTask&) = delete;
  TimedTask& operator=(const TimedTask&) = delete;

  Timers& timers() const noexcept { return timers_; }
  bool is_series() const noexcept { return period_ != Duration::zero(); }
  const TaskOptions& options() const noexcept { return options_; }

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
    bool is_counted = true;  // while it waits; when it is due, it is a task like any other
    sync::ThreadId runner = nullptr;
  };

  // The moment is there: on the thread that waits for it, before the task is handed over, once more
  // each time that it is offered again.
  virtual void come() noexcept = 0;
  virtual void call() = 0;
  // Ends the closure.
  virtual void discard() noexcept = 0;
  // Ends all of it.
  virtual void destroy() noexcept = 0;

  Timers& timers_;
  const Duration period_;
  const TaskOptions options_;
  sync::cell<Times> times_;
};

template <class F>
class TimedFunction final : public TimedTask {
 public:
  template <class Given>
  TimedFunction(Timers& timers, sync::Deadline moment, Duration period, const TaskOptions& options,
                Given&& function)
      : TimedTask(timers, moment, period, options, is_alarm),
        function_(std::forward<Given>(function)) {}
  ~TimedFunction() override {}

 private:
  // A moment of the library's own (with_timeout()).
  static constexpr bool is_alarm = requires(F& function) { function.moment_comes(); };

  void come() noexcept override {
    if constexpr (is_alarm) {
      const sync::Turn turn(this);
      function_.moment_comes();
    }
  }
  void call() override {
    const sync::Turn turn(this);
    detail::call_and_drop(function_);
  }
  void discard() noexcept override {
    const sync::Turn turn(this);
    std::destroy_at(std::addressof(function_));
  }
  void destroy() noexcept override { RawBox<TimedFunction>::destroy(this); }

  union {
    F function_;
  };
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

// Room among the timers for a task, which is made and put there, or given up. Throws
// std::bad_alloc, and std::system_error if there is no thread to be had that waits.
class TimedPlace {
 public:
  explicit TimedPlace(Timers& timers);
  ~TimedPlace() {
    if (timers_ != nullptr) give_up();
  }
  TimedPlace(const TimedPlace&) = delete;
  TimedPlace& operator=(const TimedPlace&) = delete;

  // False: closed.
  explicit operator bool() const noexcept { return timers_ != nullptr; }

  // The task waits from here on. The caller has a share in it.
  void fill(TimedTask& task) noexcept;

 private:
  void give_up() noexcept;

  Timers* timers_;
};

// Null: closed, and the function is still the caller's. Else the caller's share in the task.
template <class F>
TimedTask* add_timed(Timers& timers, sync::Deadline moment, TimedTask::Duration period,
                     const TaskOptions& options, F&& function) {
  RawBox<TimedFunction<std::decay_t<F>>> box;
  TimedPlace place(timers);
  if (!place) return nullptr;
  TimedTask* const task = box.make(timers, moment, period, options, std::forward<F>(function));
  place.fill(*task);
  return task;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
