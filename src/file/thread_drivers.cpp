// SPDX-License-Identifier: MIT
//
// Threads that make the calls of runs: the one that submits, a pool, a thread for each run.
//
//   FD-1  A run is in one queue, or driven by one thread, or parked, or ended. A thread that was
//         told `parked` or has said `ended` does not touch it any more.
//   FD-2  While a queue has a run, a thread is awake that will take it: a thread looks at the
//         queue after it has said that it is idle, and start() looks for idle ones after it has
//         queued: one that was busy then looks before it goes idle.
//   FD-3  What a callback on a thread of the pool posts goes on on that thread, as soon as the
//         callback has returned, if it is one request and none waits in the queue. So a chain of
//         requests wakes nobody, and overtakes nobody.
#include <algorithm>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <handoff/sync/detail/thread_slot.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "file_call.hpp"
#include "run_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Until it is parked or has ended.
void drive(FileRun& run, FileTap* tap, FileHost& host) noexcept {
  run.set_window(1);
  for (FileCall call;;) {
    switch (run.next(call)) {
      case FileRun::Step::issue: run.completed(call, perform(call, tap)); break;
      case FileRun::Step::busy:  // never: what was issued has completed
      case FileRun::Step::parked: return;
      case FileRun::Step::ended: return host.ended(run);
    }
  }
}

class CallerDriver final : public FileDriver {
 public:
  CallerDriver(FileHost& host, const FileDriverOptions& options) noexcept
      : host_(host), tap_(options.tap) {}

  void start(FileRun& run) noexcept override {
    RunQueue*& driving = sync::thread_slot<RunQueue*, CallerDriver>::get();
    if (driving != nullptr) return driving->push(run);
    RunQueue mine;
    driving = &mine;
    drive(run, tap_, host_);
    while (FileRun* const next = mine.pop()) drive_another(*next);
    driving = nullptr;
  }
  void close() noexcept override {}

 private:
  // The queue is the thread's, whatever engine a run belongs to.
  static void drive_another(FileRun& run) noexcept {
    const auto& driver = static_cast<const CallerDriver&>(*run.driver);
    drive(run, driver.tap_, driver.host_);
  }

  FileHost& host_;
  FileTap* const tap_;
};

class PoolDriver final : public FileDriver {
 public:
  PoolDriver(FileHost& host, const FileDriverOptions& options) : host_(host), options_(options) {
    options_.width = std::max<std::size_t>(options_.width, 1);
    threads_.reserve(options_.width);
    start_thread();
  }
  ~PoolDriver() override { close(); }

  void start(FileRun& run) noexcept override {
    bool wakes = false;
    {
      const sync::Lock lock(mutex_);
      wakes = put(run);
    }
    if (wakes) come_.notify_one();
  }

  // FD-3
  void follow(FileRun& run) noexcept override {
    Worker* const worker = sync::thread_slot<Worker*, PoolDriver>::get();
    if (worker == nullptr || worker->driver != this) return start(run);
    bool wakes = false;
    {
      const sync::Lock lock(mutex_);
      if (queue_.empty() && worker->mine.empty()) worker->mine.push(run);
      else wakes = put(run);
    }
    if (wakes) come_.notify_one();
  }

  void close() noexcept override {
    {
      const sync::Lock lock(mutex_);
      closed_ = true;
    }
    come_.notify_all();
    threads_.clear();  // joins
  }

 private:
  static constexpr std::size_t kMostAtOnce = 8;

  // One of the threads, and what it has taken.
  struct Worker {
    const PoolDriver* driver = nullptr;
    RunQueue mine;
  };

  // Under the mutex. True: a thread must be woken.
  bool put(FileRun& run) noexcept {
    queue_.push(run);
    // A thread more, while those that are idle or on their way have enough.
    if (queue_.size() > idle_ && threads_.size() < options_.width) {
      (void)attempt([this] { start_thread(); });
    }
    return idle_ != 0;
  }

  void start_thread() {
    threads_.emplace_back(
        sync::ThreadOptions{.name = options_.name + "/" + std::to_string(threads_.size())},
        [this] { work(); });
  }

  void work() noexcept {
    Worker worker{.driver = this, .mine = {}};
    sync::thread_slot<Worker*, PoolDriver>::get() = &worker;
    while (take(worker.mine)) {
      while (FileRun* const run = worker.mine.pop()) drive(*run, options_.tap, host_);
    }
  }

  // Waits for runs; false: it is over.
  bool take(RunQueue& mine) noexcept {
    bool over = false;
    bool idle = false;
    const auto there = [&] {
      const sync::Lock lock(mutex_);
      // Several at once only while all others have enough.
      std::size_t most = std::min(queue_.size() / (2 * options_.width) + 1, kMostAtOnce);
      for (; most > 0 && !queue_.empty(); --most) mine.push(*queue_.pop());
      over = closed_ && mine.empty();
      const bool waits = mine.empty() && !over;
      if (waits && !idle) ++idle_;
      if (!waits && idle) --idle_;
      idle = waits;
      return !waits;
    };
    (void)come_.await(there, sync::no_deadline, {}, sync::spin_policy(), "idle");
    return !over;
  }

  FileHost& host_;
  FileDriverOptions options_;
  sync::Mutex mutex_;
  sync::EventCount come_;
  RunQueue queue_;
  std::size_t idle_ = 0;  // threads that have found nothing
  bool closed_ = false;
  std::vector<sync::Thread> threads_;
};

class ThreadPerRequestDriver final : public FileDriver {
 public:
  ThreadPerRequestDriver(FileHost& host, const FileDriverOptions& options)
      : host_(host), options_(options), threads_(std::max<std::size_t>(options.width, 1)) {
    free_.reserve(threads_.size());
    for (std::size_t i = threads_.size(); i-- > 0;) free_.push_back(i);
  }
  ~ThreadPerRequestDriver() override { close(); }

  void start(FileRun& run) noexcept override {
    if (!begin(run)) drive(run, options_.tap, host_);
  }

  void close() noexcept override {
    std::vector<sync::Thread> threads;  // joined when the mutex is free, which they need
    {
      // The thread that began the last one may not have put it into its place yet.
      const sync::Lock lock(mutex_);
      threads.swap(threads_);
    }
  }

 private:
  // False: the system has no thread for it, and there is none that could take it later.
  bool begin(FileRun& run) noexcept {
    const sync::Lock lock(mutex_);
    if (free_.empty()) {
      queue_.push(run);
      return true;
    }
    const std::size_t place = free_.back();
    const bool started = attempt([&] {
      threads_[place] = sync::Thread({.name = options_.name + "/" + std::to_string(place)},
                                     [this, place, first = &run] { work(*first, place); });
    });
    if (started) {
      free_.pop_back();
    } else if (free_.size() < threads_.size()) {
      queue_.push(run);
    } else {
      return false;
    }
    return true;
  }

  void work(FileRun& first, std::size_t place) noexcept {
    for (FileRun* run = &first; run != nullptr;) {
      drive(*run, options_.tap, host_);
      const sync::Lock lock(mutex_);
      run = queue_.pop();
      if (run == nullptr) free_.push_back(place);
    }
  }

  FileHost& host_;
  const FileDriverOptions options_;
  sync::Mutex mutex_;
  RunQueue queue_;
  std::vector<sync::Thread> threads_;
  std::vector<std::size_t> free_;  // places of threads that have ended, or end now
};

}  // namespace

std::unique_ptr<FileDriver> make_caller_driver(FileHost& host, const FileDriverOptions& options) {
  return std::make_unique<CallerDriver>(host, options);
}
std::unique_ptr<FileDriver> make_pool_driver(FileHost& host, const FileDriverOptions& options) {
  return std::make_unique<PoolDriver>(host, options);
}
std::unique_ptr<FileDriver> make_thread_per_request_driver(FileHost& host,
                                                           const FileDriverOptions& options) {
  return std::make_unique<ThreadPerRequestDriver>(host, options);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
