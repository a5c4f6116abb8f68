// SPDX-License-Identifier: MIT
//
// Threads that make the calls of runs: the one that submits, or those of an executor.
//
//   FD-1  A run is in one queue, or driven by one thread, or parked, or ended. A thread that was
//         told `parked` or has said `ended` does not touch it any more.
//   FD-2  While the queue has a run, a task is posted that will take it: start() posts one unless
//         as many are as may work at once, and a task is over when it has found the queue empty.
//   FD-3  What a callback on a thread of the executor posts goes on on that thread, as soon as the
//         callback has returned, if it is one request and none waits in the queue. So a chain of
//         requests wakes nobody, and overtakes nobody.
//   FD-4  If the executor is a pool, a task of it that waits for a request runs queued requests,
//         within the width. It stops when its own is ready and another thread empties the queue. So
//         a waiting task that could not help never depends on a task that begins after it.
#include <algorithm>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/internal/pool_host.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <handoff/sync/mutex.hpp>
#include <optional>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "driver.hpp"
#include "file_call.hpp"
#include "run_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Until it is parked or has ended. `lends`: the thread works for others too.
void drive(FileRun& run, FileTap* tap, FileHost& host, bool lends = false) noexcept {
  run.set_window(1);
  const auto calls = [&run, tap] {
    FileRun::Step step{};
    for (FileCall call; (step = run.next(call)) == FileRun::Step::issue;) {
      run.completed(call, perform(call, tap));
    }
    return step;  // never `busy`: what was issued has completed
  };
  const FileRun::Step step = lends ? blocking(calls) : calls();
  if (step == FileRun::Step::ended) host.ended(run);
}

}  // namespace

sync::Mutex& FileDriver::helping() noexcept {
  static constinit sync::Mutex mutex;
  return mutex;
}

namespace {

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

// The threads of an executor: the user's, or a pool of the engine's own.
class ExecutorDriver final : public FileDriver {
 public:
  ExecutorDriver(FileHost& host, const FileDriverOptions& options)
      : host_(host),
        tap_(options.tap),
        width_(std::clamp<std::size_t>(options.width, 1, ThreadPool::max_width)),
        lends_(static_cast<bool>(options.executor)),
        executor_(options.executor) {
    if (lends_) return;
    executor_ = own_.emplace(ThreadPoolOptions{.name = options.name,
                                               .mode = PoolMode::cached,
                                               .width = width_,
                                               .core = 1,
                                               .idle_time = options.idle_time});
  }
  ~ExecutorDriver() override { close(); }

  void start(FileRun& run) noexcept override {
    {
      const sync::SeenLock lock(mutex_);
      if (!put(run)) return;
    }
    post_task();
  }

  // FD-3
  void follow(FileRun& run) noexcept override {
    Driving* const driving = sync::thread_slot<Driving*, ExecutorDriver>::get();
    if (driving == nullptr || driving->driver != this) return start(run);
    {
      const sync::SeenLock lock(mutex_);
      if (queue_.empty() && driving->mine.empty()) return driving->mine.push(run);
      if (!put(run)) return;
    }
    post_task();
  }

  // FD-4
  bool may_help() noexcept override {
    if (!runs_task_of(executor_.pool())) return false;
    const sync::SeenLock lock(mutex_);
    if (queue_.empty() || at_work_ + helpers_ >= width_) return false;
    ++helpers_;
    return true;
  }
  void drive_queued(const FutureState& awaited, Workplace& here) noexcept override {
    struct Part {
      ExecutorDriver& driver;
      const FutureState& awaited;
    } part{*this, awaited};
    here.run_inside({&part, [](void* self) noexcept {
                       auto& mine = *static_cast<Part*>(self);
                       mine.driver.work(&mine.awaited);
                     }});
  }

  // Tasks may not be over yet, or not have begun. A thread that posted one may still be in the
  // pool, which therefore ends with this, behind all calls of the engine.
  void close() noexcept override {
    const auto all_over = [this] {
      const sync::SeenLock lock(mutex_);
      closed_ = true;
      return tasks_ + helpers_ == 0;
    };
    blocking([&] { (void)over_.await(all_over); });
    if (own_) (void)own_->close();
  }

 private:
  static constexpr std::size_t kMostAtOnce = 8;

  // What a thread has taken.
  struct Driving {
    const ExecutorDriver* driver;
    RunQueue mine = {};
  };

  // Under the mutex. FD-2. True: a task is to be posted, which counts already.
  bool put(FileRun& run) noexcept {
    queue_.push(run);
    if (tasks_ == width_) return false;
    ++tasks_;
    return true;
  }

  // If it is refused, the others do its part, or this thread.
  void post_task() noexcept {
    FileJob job([](void* self) noexcept { static_cast<ExecutorDriver*>(self)->work(); }, this);
    bool posted = false;
    (void)attempt([&] { posted = executor_.try_post(job) == Status::ok; });
    if (posted) return;
    job.forget();
    {
      const sync::SeenLock lock(mutex_);
      if (tasks_ > 1) {
        --tasks_;
        return;
      }
    }
    work();
  }

  // A task; or one that waits for this.
  void work(const FutureState* awaited = nullptr) noexcept {
    Driving here{.driver = this};
    Driving*& driving = sync::thread_slot<Driving*, ExecutorDriver>::get();
    Driving* const outer = std::exchange(driving, &here);
    for (bool begins = true;
         awaited == nullptr ? take(here.mine, begins) : help(here.mine, *awaited); begins = false) {
      while (FileRun* const run = here.mine.pop()) drive(*run, tap_, host_, lends_);
    }
    driving = outer;
  }

  bool help(RunQueue& mine, const FutureState& awaited) noexcept {
    const sync::SeenLock lock(mutex_);
    if (!queue_.empty() && (at_work_ == 0 || !awaited.is_ready())) {
      mine.push(*queue_.pop());
      return true;
    }
    if (--helpers_ == 0 && closed_) over_.notify_all();
    return false;
  }

  // False: the queue is empty, and the task is over, perhaps the driver too.
  bool take(RunQueue& mine, bool begins) noexcept {
    const sync::SeenLock lock(mutex_);
    if (begins) ++at_work_;
    // Several at once only while all others have enough.
    std::size_t most = std::min(queue_.size() / (2 * width_) + 1, kMostAtOnce);
    for (; most > 0 && !queue_.empty(); --most) mine.push(*queue_.pop());
    if (!mine.empty()) return true;
    --at_work_;
    if (--tasks_ == 0 && closed_) over_.notify_all();
    return false;
  }

  FileHost& host_;
  FileTap* const tap_;
  const std::size_t width_;
  const bool lends_;  // the executor is the user's, and has more to do than this
  FileExecutor executor_;
  sync::Mutex mutex_;
  sync::EventCount over_;
  RunQueue queue_;
  std::size_t tasks_ = 0;  // posted and not over
  std::size_t at_work_ = 0;  // ... and begun
  std::size_t helpers_ = 0;
  bool closed_ = false;
  std::optional<ThreadPool> own_;
};

}  // namespace

std::unique_ptr<FileDriver> make_caller_driver(FileHost& host, const FileDriverOptions& options) {
  return std::make_unique<CallerDriver>(host, options);
}
std::unique_ptr<FileDriver> make_executor_driver(FileHost& host, const FileDriverOptions& options) {
  return std::make_unique<ExecutorDriver>(host, options);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
