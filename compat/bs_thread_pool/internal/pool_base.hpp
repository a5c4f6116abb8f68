// SPDX-License-Identifier: MIT
//
// What the pools of 4.x and of 5.x have in common: tasks that wait here, and a handoff::ThreadPool
// whose tasks each run one of them. So purge(), pause() and priorities are exact, and threads,
// wake-ups and sleeping are the pool's.
//
// Invariants:
// - BP-1: `state_` counts a waiting task only once it lies in the backlog, and a call of the pool's
//   takes one from there only after it took it from the count. So it finds one.
// - BP-2: for each waiting task one call was posted after it was counted, unless the pool was
//   paused then; unpause() posts those.
// - BP-3: a submitter that posts counts as running until post() has returned. So nobody uses the
//   handoff::ThreadPool when the destructor or reset() ends it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/core/misuse.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/sync/event_count.hpp>

#include "multi_future.hpp"

namespace BS {

// Cuts [first, after_last) into so many blocks at most, the larger ones first.
template <typename T>
class [[nodiscard]] blocks {
 public:
  blocks(T first, T after_last, std::size_t wanted) noexcept
      : first_(first), after_last_(after_last) {
    if (!(after_last > first)) return;
    const auto size = static_cast<std::size_t>(after_last - first);
    count_ = wanted < size ? wanted : size;
    block_ = size / count_;
    larger_ = size % count_;
  }
  [[nodiscard]] std::size_t get_num_blocks() const noexcept { return count_; }
  [[nodiscard]] T start(std::size_t block) const noexcept {
    const std::size_t longer = block < larger_ ? block : larger_;
    return static_cast<T>(first_ + static_cast<T>(block * block_) + static_cast<T>(longer));
  }
  [[nodiscard]] T end(std::size_t block) const noexcept {
    return block + 1 == count_ ? after_last_ : start(block + 1);
  }

 private:
  T first_;
  T after_last_;
  std::size_t count_ = 0;
  std::size_t block_ = 0;
  std::size_t larger_ = 0;  // that many blocks at the front have one index more
};

namespace internal {

using Task = handoff::UniqueFunction<void()>;

// Of the calling thread; `pool` is null outside of pools.
struct Here {
  void* pool = nullptr;
  std::size_t index = 0;
};
inline thread_local constinit Here here;

class FifoBacklog {
 public:
  void put(Task&& task, int) { (void)queue_.try_push(std::move(task)); }
  Task take() { return std::move(*queue_.try_pop()); }

 private:
  handoff::SegmentQueue<Task> queue_;
};

// The most urgent first; those of one priority in the order in which they came.
class PriorityBacklog {
 public:
  void put(Task&& task, int priority) {
    const std::scoped_lock lock(mutex_);
    waiting_.emplace(priority, std::move(task));
  }
  Task take() {
    const std::scoped_lock lock(mutex_);
    Task task = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    return task;
  }

 private:
  std::mutex mutex_;
  std::multimap<int, Task, std::greater<>> waiting_;
};

// A task whose result or exception is a future's.
template <typename F, typename R>
struct PromisedTask {
  F function;
  std::promise<R> promise;

  void operator()() {
#ifdef __cpp_exceptions
    try {
      keep();
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
#else
    keep();
#endif
  }
  void keep() {
    if constexpr (std::is_void_v<R>) {
      function();
      promise.set_value();
    } else {
      promise.set_value(function());
    }
  }
};

template <typename T, typename F>
auto as_block(F&& block) {
  return [shared = std::make_shared<std::decay_t<F>>(std::forward<F>(block))](
             T start, T end) -> decltype(auto) { return (*shared)(start, end); };
}
template <typename T, typename F>
auto as_loop(F&& loop) {
  return [shared = std::make_shared<std::decay_t<F>>(std::forward<F>(loop))](T start, T end) {
    std::decay_t<F>& function = *shared;
    for (T i = start; i < end; ++i) function(i);
  };
}
template <typename T, typename F>
auto as_sequence(F&& sequence) {
  return [shared = std::make_shared<std::decay_t<F>>(std::forward<F>(sequence))](
             T start, T) -> decltype(auto) { return (*shared)(start); };
}
template <typename T>
std::size_t size_of(T first, T after_last) {
  return after_last > first ? static_cast<std::size_t>(after_last - first) : 0;
}

// `WaitDeadlock`: thrown by a wait for the own pool. `swallows`: what a detached task throws is
// dropped; otherwise it ends the program.
struct PoolTraits {
  bool priority;
  bool pause;
  bool swallows;
};

template <PoolTraits traits, typename WaitDeadlock>
class PoolBase {
 public:
  PoolBase(const PoolBase&) = delete;
  PoolBase& operator=(const PoolBase&) = delete;

  [[nodiscard]] std::size_t get_tasks_queued() const noexcept { return queued(state_.load()); }
  [[nodiscard]] std::size_t get_tasks_running() const noexcept { return running(state_.load()); }
  [[nodiscard]] std::size_t get_tasks_total() const noexcept {
    const std::uint64_t state = state_.load();
    return queued(state) + running(state);
  }

  [[nodiscard]] std::vector<std::thread::id> get_thread_ids() const {
    std::vector<std::thread::id> ids;
    for (const Thread& thread : known_threads()) ids.push_back(thread.id);
    return ids;
  }

  [[nodiscard]] bool is_paused() const noexcept
    requires(traits.pause)
  {
    return (state_.load() & kPaused) != 0;
  }
  void pause() noexcept
    requires(traits.pause)
  {
    hold();
  }
  void unpause()
    requires(traits.pause)
  {
    release();
  }

  // Destroys the tasks that have not begun.
  void purge() {
    std::uint64_t state = state_.load();
    while (!state_.compare_exchange_weak(state, state % kOneQueued)) continue;
    for (std::size_t left = queued(state); left != 0; --left) (void)backlog_.take();
    changed_.notify_all();
  }

  void wait() { (void)wait_to(handoff::sync::no_deadline); }
  template <typename R, typename P>
  bool wait_for(const std::chrono::duration<R, P>& duration) {
    return wait_to(handoff::sync::deadline_after(duration));
  }
  template <typename C, typename D>
  bool wait_until(const std::chrono::time_point<C, D>& moment) {
    do {
      if (wait_for(moment - C::now())) return true;
    } while (C::now() < moment);
    return false;
  }

 protected:
  using Hook = handoff::UniqueFunction<void(std::size_t)>;

  PoolBase() = default;
  ~PoolBase() = default;

  // `self`: what this_thread::get_pool() tells; 0 threads: as many as the machine has.
  void start(void* self, std::size_t threads, Hook init) {
    if (threads == 0) threads = std::thread::hardware_concurrency();
    self_ = self;
    init_ = std::move(init);
    known_ = ready_ = width_ = 0;
    threads_.assign(threads == 0 ? 1 : threads, {});
    pool_.emplace(
        handoff::ThreadPoolOptions{.width = threads_.size(),
                                   .on_start = [this](std::size_t index) { enter(index); },
                                   .on_stop = [this](std::size_t index) { leave(index); }});
    threads_.resize(pool_->width());
    width_ = threads_.size();
  }

  void end() {
    wait();
    hold();
    pool_.reset();
  }

  // Tasks that come meanwhile wait for the new threads.
  void restart(void* self, std::size_t threads, Hook init) {
    if constexpr (!traits.pause) wait();
    const bool was_paused = hold();
    wait();
    pool_.reset();
    start(self, threads, std::move(init));
    if (!was_paused) release();
  }

  void set_cleanup(Hook cleanup) { cleanup_ = std::move(cleanup); }

  template <typename F>
  void detach(F&& task, int priority) {
    backlog_.put(Task(std::forward<F>(task)), priority);
    std::uint64_t state = state_.load();
    while (!state_.compare_exchange_weak(state, state + added_to(state))) continue;
    if ((state & kPaused) != 0) return;
    post();
    ended_one();
  }
  template <typename R, typename F>
  std::future<R> submit(F&& task, int priority) {
    std::promise<R> promise;
    std::future<R> future = promise.get_future();
    detach(PromisedTask<std::decay_t<F>, R>{std::forward<F>(task), std::move(promise)}, priority);
    return future;
  }

  // block(start, end) as a task for each block.
  template <typename T, typename F>
  void detach_ranges(T first, T after_last, const F& block, std::size_t count, int priority) {
    const blocks<T> parts(first, after_last, count != 0 ? count : width_.load());
    for (std::size_t i = 0; i < parts.get_num_blocks(); ++i) {
      detach([block, start = parts.start(i), end = parts.end(i)] { block(start, end); }, priority);
    }
  }
  template <typename T, typename F, typename R = std::invoke_result_t<const F&, T, T>>
  multi_future<R> submit_ranges(T first, T after_last, const F& block, std::size_t count,
                                int priority) {
    const blocks<T> parts(first, after_last, count != 0 ? count : width_.load());
    multi_future<R> futures;
    futures.reserve(parts.get_num_blocks());
    for (std::size_t i = 0; i < parts.get_num_blocks(); ++i) {
      futures.push_back(submit<R>(
          [block, start = parts.start(i), end = parts.end(i)]() -> R { return block(start, end); },
          priority));
    }
    return futures;
  }

  [[nodiscard]] std::size_t width() const noexcept { return width_.load(); }

  struct Thread {
    std::thread::id id;
    pthread_t handle = {};
  };
  // Once all threads have told.
  [[nodiscard]] const std::vector<Thread>& known_threads() const {
    (void)changed_.await([this] { return known_ == width_; });
    return threads_;
  }

 private:
  using Backlog = std::conditional_t<traits.priority, PriorityBacklog, FifoBacklog>;

  static constexpr std::uint64_t kOneRunning = 1;
  static constexpr std::uint64_t kPaused = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kOneQueued = std::uint64_t{1} << 32;

  static std::size_t queued(std::uint64_t state) noexcept { return state / kOneQueued; }
  std::size_t running(std::uint64_t state) const noexcept {
    const std::size_t counted = state % kPaused;  // submitters that post are among them
    return counted < width() ? counted : width();
  }
  static std::uint64_t added_to(std::uint64_t state) noexcept {
    return (state & kPaused) != 0 ? kOneQueued : kOneQueued + kOneRunning;
  }
  static bool settled(std::uint64_t state) noexcept {
    return state % kPaused == 0 && (state < kOneQueued || (state & kPaused) != 0);
  }

  void enter(std::size_t index) {
    here = {self_, index};
    threads_[index] = {std::this_thread::get_id(), pthread_self()};
    ++known_;
    changed_.notify_all();
    if (init_) init_(index);
    ++ready_;
    changed_.notify_all();
  }
  void leave(std::size_t index) {
    if (cleanup_) cleanup_(index);
    here = {};
  }

  bool hold() noexcept {
    const bool was_paused = (state_.fetch_or(kPaused) & kPaused) != 0;
    changed_.notify_all();
    return was_paused;
  }
  void release() {
    const std::uint64_t before = state_.fetch_and(~kPaused);
    if ((before & kPaused) == 0) return;
    for (std::size_t left = queued(before); left != 0; --left) post();
  }

  // Where memory is out, the calling thread runs a task.
  void post() {
#ifdef __cpp_exceptions
    try {
      pool_->post([this] { run_one(); });
    } catch (...) {
      run_one();
    }
#else
    pool_->post([this] { run_one(); });
#endif
  }

  void run_one() noexcept {
    std::uint64_t state = state_.load();
    do {
      if (state < kOneQueued || (state & kPaused) != 0) return;
    } while (!state_.compare_exchange_weak(state, state - kOneQueued + kOneRunning));
    {
      Task task = backlog_.take();
#ifdef __cpp_exceptions
      if constexpr (traits.swallows) {
        try {
          task();
        } catch (...) {
        }
      } else {
        task();
      }
#else
      task();
#endif
    }
    ended_one();
  }

  void ended_one() noexcept {
    if (settled(state_.fetch_sub(kOneRunning) - kOneRunning)) changed_.notify_all();
  }

  bool wait_to(handoff::sync::Deadline deadline) {
    if (here.pool == self_) {
#ifdef __cpp_exceptions
      throw WaitDeadlock();
#else
      handoff::misuse("BS::thread_pool: a task waits for its own pool");
#endif
    }
    const auto done = [this] { return settled(state_.load()) && ready_ == width_; };
    // The workers may need each CPU.
    const auto never = handoff::sync::Spin::never;
    return changed_.await(done, deadline, {}, never) == handoff::sync::Wakeup::notified;
  }

  Backlog backlog_;
  std::atomic<std::uint64_t> state_ = 0;  // tasks that wait, whether paused, tasks that run
  mutable handoff::sync::EventCount changed_;
  void* self_ = nullptr;
  Hook init_;
  Hook cleanup_;
  std::vector<Thread> threads_;
  std::atomic<std::size_t> width_ = 0;
  std::atomic<std::size_t> known_ = 0;  // threads that have told their id
  std::atomic<std::size_t> ready_ = 0;  // threads whose initialisation is done
  std::optional<handoff::ThreadPool> pool_;
};

}  // namespace internal
}  // namespace BS
