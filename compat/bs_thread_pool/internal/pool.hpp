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

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/sync/event_count.hpp>

#include "utilities.hpp"

namespace BS { namespace internal {

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
    (void)handoff::detail::attempt([this] { keep(); },
                                   [this] { promise.set_exception(std::current_exception()); });
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
// Calls init(index) or init().
using Hook = handoff::UniqueFunction<void(std::size_t)>;
template <typename F>
concept IsHook = std::invocable<F> || std::invocable<F, std::size_t>;
template <IsHook F>
Hook hook(F&& function) {
  if constexpr (std::is_invocable_v<std::decay_t<F>&, std::size_t>) {
    return std::forward<F>(function);
  } else {
    return [kept = std::decay_t<F>(std::forward<F>(function))](std::size_t) mutable { kept(); };
  }
}

// `Version` has what differs between 4.x and 5.x: the types Count, Priority and WaitDeadlock,
// Index<T1, T2> in which a loop counts, swallows (or a detached task that throws ends the program),
// and default_width().
template <typename Version, bool kPriority, bool kPause>
class Pool {
  using Count = typename Version::Count;
  using Priority = typename Version::Priority;
  template <typename T1, typename T2>
  using Index = typename Version::template Index<T1, T2>;

 public:
  explicit Pool(Count num_threads = 0) { start(num_threads, {}); }
  template <IsHook F>
  explicit Pool(F&& init) : Pool(0, std::forward<F>(init)) {}
  template <IsHook F>
  Pool(Count num_threads, F&& init) {
    start(num_threads, hook(std::forward<F>(init)));
  }
  ~Pool() {
    wait();
    hold();
    pool_.reset();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] std::size_t get_tasks_queued() const noexcept { return queued(state_.load()); }
  [[nodiscard]] std::size_t get_tasks_running() const noexcept { return running(state_.load()); }
  [[nodiscard]] std::size_t get_tasks_total() const noexcept {
    const std::uint64_t state = state_.load();
    return queued(state) + running(state);
  }

  [[nodiscard]] Count get_thread_count() const noexcept {
    return static_cast<Count>(width_.load());
  }
  [[nodiscard]] std::vector<std::thread::id> get_thread_ids() const {
    std::vector<std::thread::id> ids;
    for (const Thread& thread : known_threads()) ids.push_back(thread.id);
    return ids;
  }
  [[nodiscard]] std::vector<pthread_t> get_native_handles() const {
    std::vector<pthread_t> handles;
    for (const Thread& thread : known_threads()) handles.push_back(thread.handle);
    return handles;
  }

  [[nodiscard]] bool is_paused() const noexcept
    requires(kPause)
  {
    return (state_.load() & kPaused) != 0;
  }
  void pause() noexcept
    requires(kPause)
  {
    hold();
  }
  void unpause()
    requires(kPause)
  {
    release();
  }

  // The tasks that run end first, and without pausing those that wait too. Tasks that come
  // meanwhile wait for the new threads.
  void reset(Count num_threads = 0) { restart(num_threads, {}); }
  template <IsHook F>
  void reset(F&& init) {
    reset(0, std::forward<F>(init));
  }
  template <IsHook F>
  void reset(Count num_threads, F&& init) {
    restart(num_threads, hook(std::forward<F>(init)));
  }
  template <IsHook F>
  void set_cleanup_func(F&& cleanup) {
    cleanup_ = hook(std::forward<F>(cleanup));
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

  template <typename F>
  void detach_task(F&& task, Priority priority = 0) {
    backlog_.put(Task(std::forward<F>(task)), priority);
    std::uint64_t state = state_.load();
    while (!state_.compare_exchange_weak(state, state + added_to(state))) continue;
    if ((state & kPaused) != 0) return;
    post();
    ended_one();
  }
  template <typename F, typename R = std::invoke_result_t<std::decay_t<F>>>
  [[nodiscard]] std::future<R> submit_task(F&& task, Priority priority = 0) {
    std::promise<R> promise;
    std::future<R> future = promise.get_future();
    detach_task(PromisedTask<std::decay_t<F>, R>{std::forward<F>(task), std::move(promise)},
                priority);
    return future;
  }

  // Each task of the range, moved.
  template <typename I>
  void detach_bulk(I first, I last, Priority priority = 0) {
    for (; first != last; ++first) detach_task(std::move(*first), priority);
  }
  template <typename C>
  void detach_bulk(C& container, Priority priority = 0) {
    detach_bulk(std::begin(container), std::end(container), priority);
  }
  template <typename I,
            typename R = std::invoke_result_t<std::decay_t<decltype(*std::declval<I>())>>>
  [[nodiscard]] multi_future<R> submit_bulk(I first, I last, Priority priority = 0) {
    multi_future<R> futures;
    for (; first != last; ++first) futures.push_back(submit_task(std::move(*first), priority));
    return futures;
  }
  template <typename C>
  [[nodiscard]] auto submit_bulk(C& container, Priority priority = 0) {
    return submit_bulk(std::begin(container), std::end(container), priority);
  }

  template <typename T1, typename T2, typename F, typename T = Index<T1, T2>>
  void detach_blocks(T1 first, T2 after_last, F&& block, std::size_t blocks = 0,
                     Priority priority = 0) {
    detach_parts(T(first), T(after_last), as_block<T>(std::forward<F>(block)), blocks, priority);
  }
  template <typename T1, typename T2, typename F, typename T = Index<T1, T2>>
  void detach_loop(T1 first, T2 after_last, F&& loop, std::size_t blocks = 0,
                   Priority priority = 0) {
    detach_parts(T(first), T(after_last), as_loop<T>(std::forward<F>(loop)), blocks, priority);
  }
  template <typename T1, typename T2, typename F, typename T = Index<T1, T2>>
  void detach_sequence(T1 first, T2 after_last, F&& sequence, Priority priority = 0) {
    detach_parts(T(first), T(after_last), as_sequence<T>(std::forward<F>(sequence)), kEach,
                 priority);
  }
  template <typename T1, typename T2, typename F, typename T = Index<T1, T2>>
  [[nodiscard]] auto submit_blocks(T1 first, T2 after_last, F&& block, std::size_t blocks = 0,
                                   Priority priority = 0) {
    return submit_parts(T(first), T(after_last), as_block<T>(std::forward<F>(block)), blocks,
                        priority);
  }
  template <typename T1, typename T2, typename F, typename T = Index<T1, T2>>
  [[nodiscard]] auto submit_loop(T1 first, T2 after_last, F&& loop, std::size_t blocks = 0,
                                 Priority priority = 0) {
    return submit_parts(T(first), T(after_last), as_loop<T>(std::forward<F>(loop)), blocks,
                        priority);
  }
  template <typename T1, typename T2, typename F, typename T = Index<T1, T2>>
  [[nodiscard]] auto submit_sequence(T1 first, T2 after_last, F&& sequence, Priority priority = 0) {
    return submit_parts(T(first), T(after_last), as_sequence<T>(std::forward<F>(sequence)), kEach,
                        priority);
  }

 private:
  using Backlog = std::conditional_t<kPriority, PriorityBacklog, FifoBacklog>;

  static constexpr std::uint64_t kOneRunning = 1;
  static constexpr std::uint64_t kPaused = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kOneQueued = std::uint64_t{1} << 32;

  static constexpr std::size_t kEach = ~std::size_t{0};  // a block for each index

  struct Thread {
    std::thread::id id;
    pthread_t handle = {};
  };

  static std::size_t queued(std::uint64_t state) noexcept { return state / kOneQueued; }
  std::size_t running(std::uint64_t state) const noexcept {
    const std::size_t counted = state % kPaused;  // submitters that post are among them
    return std::min(counted, width_.load());
  }
  static std::uint64_t added_to(std::uint64_t state) noexcept {
    return (state & kPaused) != 0 ? kOneQueued : kOneQueued + kOneRunning;
  }
  static bool settled(std::uint64_t state) noexcept {
    return state % kPaused == 0 && (state < kOneQueued || (state & kPaused) != 0);
  }

  void start(std::size_t threads, Hook init) {
    if (threads == 0) threads = Version::default_width();
    init_ = std::move(init);
    known_ = ready_ = width_ = 0;
    threads_.assign(std::max<std::size_t>(threads, 1), {});
    pool_.emplace(
        handoff::ThreadPoolOptions{.width = threads_.size(),
                                   .on_start = [this](std::size_t index) { enter(index); },
                                   .on_stop = [this](std::size_t index) { leave(index); }});
    threads_.resize(pool_->width());
    width_ = threads_.size();
  }
  void restart(std::size_t threads, Hook init) {
    if constexpr (!kPause) wait();
    const bool was_paused = hold();
    wait();
    pool_.reset();
    start(threads, std::move(init));
    if (!was_paused) release();
  }

  // part(start, end) for each block of [first, after_last); the longer blocks come first.
  template <typename T, typename Part>
  void cut(T first, T after_last, std::size_t count, const Part& part) {
    if (!(after_last > first)) return;
    const auto size = static_cast<std::size_t>(after_last - first);
    count = std::min(count == 0 ? width_.load() : count, size);
    for (std::size_t left = count; left != 0; --left) {
      const auto rest = static_cast<std::size_t>(after_last - first);
      const T end = static_cast<T>(first + static_cast<T>((rest + left - 1) / left));
      part(first, end);
      first = end;
    }
  }
  template <typename T, typename F>
  void detach_parts(T first, T after_last, const F& block, std::size_t count, Priority priority) {
    cut(first, after_last, count,
        [&](T start, T end) { detach_task([block, start, end] { block(start, end); }, priority); });
  }
  template <typename T, typename F, typename R = std::invoke_result_t<const F&, T, T>>
  multi_future<R> submit_parts(T first, T after_last, const F& block, std::size_t count,
                               Priority priority) {
    multi_future<R> futures;
    cut(first, after_last, count, [&](T start, T end) {
      futures.push_back(
          submit_task([block, start, end]() -> R { return block(start, end); }, priority));
    });
    return futures;
  }

  // Once all threads have told.
  [[nodiscard]] const std::vector<Thread>& known_threads() const {
    (void)changed_.await([this] { return known_ == width_; });
    return threads_;
  }

  void enter(std::size_t index) {
    here = {this, index};
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
    if (!handoff::detail::attempt([this] { pool_->post([this] { run_one(); }); })) run_one();
  }

  void run_one() noexcept {
    std::uint64_t state = state_.load();
    do {
      if (state < kOneQueued || (state & kPaused) != 0) return;
    } while (!state_.compare_exchange_weak(state, state - kOneQueued + kOneRunning));
    {
      Task task = backlog_.take();
      if constexpr (Version::swallows) {
        (void)handoff::detail::attempt(task);
      } else {
        task();
      }
    }
    ended_one();
  }

  void ended_one() noexcept {
    if (settled(state_.fetch_sub(kOneRunning) - kOneRunning)) changed_.notify_all();
  }

  bool wait_to(handoff::sync::Deadline deadline) {
    if (here.pool == this) {
      handoff::raise(typename Version::WaitDeadlock());
    }
    const auto done = [this] { return settled(state_.load()) && ready_ == width_; };
    // The workers may need each CPU.
    const auto never = handoff::sync::Spin::never;
    return changed_.await(done, deadline, {}, never) == handoff::sync::Wakeup::notified;
  }

  Backlog backlog_;
  std::atomic<std::uint64_t> state_ = 0;  // tasks that wait, whether paused, tasks that run
  mutable handoff::sync::EventCount changed_;
  Hook init_;
  Hook cleanup_;
  std::vector<Thread> threads_;
  std::atomic<std::size_t> width_ = 0;
  std::atomic<std::size_t> known_ = 0;  // threads that have told their id
  std::atomic<std::size_t> ready_ = 0;  // threads whose initialisation is done
  std::optional<handoff::ThreadPool> pool_;
};

}}  // namespace BS::internal
