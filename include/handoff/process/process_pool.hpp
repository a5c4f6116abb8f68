// SPDX-License-Identifier: MIT
//
// Processes that run jobs. A job that crashes, hangs or leaks harms no other job.
//
//   struct Document {
//     char name[256];
//   };
//   std::uint32_t count_words(const Document& document);
//
//   handoff::ProcessPool pool{{.width = 8, .recycle_after = 1000}};
//   handoff::Future<std::uint32_t> words = pool.submit<count_words>(Document{"a.txt"});
//   use(words.get());  // the result; or throws WorkFailed
//
// For: jobs that may crash, leak or hang, and that come one by one; libraries that end the whole
// process. Not for: one range of indices (ProcessTeam: no copies, no Futures); code that you trust
// (ThreadPool); jobs below 10 us.
//
// Contract: executor tier, in the kernel form: a kernel is a function without a capture that takes
// one argument, R kernel(const Arguments&). R and Arguments are trivially copyable and have at most
// 4096 bytes each; R may be void. The pool copies them byte by byte through shared memory.
// - Concurrency: thread-safe. Inside a kernel all calls are misuse. The destructor comes after all
//   other calls.
// - Order: what came before submit() happens before the job; the job happens before get() returns.
//   Jobs have no order; they begin about in the order of their submission.
// - Blocks: wait() and close(); submit() on a full pool with OnFull::wait, until there is room or
//   the job's `until` is over.
// - Allocates: the constructor; submit() once (std::bad_alloc: nothing was handed over).
// - If the worker of a job ends, another worker gets the job, until it has ended
//   ProcessPoolOptions::tries workers: then its Future has WorkFailed. So a kernel may be called
//   again for a job that is done in part (docs/guide/processes.md). A job that is stopped, late or
//   abandoned by then does not begin again.
// - A worker that is at one job for longer than `limit` is killed. Without a limit the Future of a
//   kernel that hangs is never ready; other jobs go on, while a worker is left.
// - Exceptions: an exception of a kernel is a WorkFailed with its text, in the Future.
// - Futures: one thread of the pool makes results ready and runs what follows them (then(),
//   coroutines), so keep that short. There submit() on a full pool throws NotRun instead of
//   waiting; wait() and close() are misuse.
// - Workers are forks of the program as it was when the pool was made, so make the pool early.
//
// How it works, and what each kind of death leads to: docs/design/process_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/process/detail/process_job.hpp>
#include <handoff/process/process_pool_options.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class JobMaster;
}  // namespace detail

class ProcessPool {
 public:
  // The most workers of a pool.
  static constexpr std::size_t max_width = 1024;
  // The most jobs in a pool at a time.
  static constexpr std::size_t max_capacity = 4096;
  // The most bytes of a kernel's arguments.
  static constexpr std::size_t max_arguments = 4096;
  // The most bytes of a result.
  static constexpr std::size_t max_result = 4096;

  // Starts the thread that makes results ready, the fork server and the workers. Throws
  // std::system_error, std::bad_alloc, with nothing left behind.
  explicit ProcessPool(const ProcessPoolOptions& options = {});
  // With this many workers: ProcessPool pool(4).
  explicit ProcessPool(std::size_t width) : ProcessPool(ProcessPoolOptions{.width = width}) {}
  // Finishes all jobs, ends the workers, and waits until they are gone.
  ~ProcessPool();
  ProcessPool(ProcessPool&&) noexcept;
  ProcessPool& operator=(ProcessPool&&) noexcept;

  // Calls kernel(arguments) in one of the workers, with a copy of them. Throws NotRun if refused,
  // and std::system_error (ENOENT) if its code was loaded after the pool was made.
  template <auto kernel, class Arguments>
  auto submit(const Arguments& arguments, const ProcessJobOptions& options = {}) {
    check<kernel, Arguments>();
    using Result = detail::JobResult<kernel, Arguments>;
    Future<Result> future;
    const Status said = hand_over<kernel, Result>(arguments, options, Refusal::wait, future);
    if (said != Status::ok) [[unlikely]]
      raise(NotRun(said, options.name));
    return future;
  }

  // The same without waiting: ok, and `future` is that of the job; or full or closed.
  template <auto kernel, class Result, class Arguments>
  Status try_submit(Future<Result>& future, const Arguments& arguments,
                    const ProcessJobOptions& options = {}) {
    check<kernel, Arguments>();
    static_assert(std::is_same_v<Result, detail::JobResult<kernel, Arguments>>,
                  "try_submit: the Future is one of what the kernel returns");
    return hand_over<kernel, Result>(arguments, options, Refusal::at_once, future);
  }

  // Until nothing is unfinished: ok, or stopped or timed_out.
  Status wait(const Until& until = {});

  // See the head comment.
  Tally close(Closing how = Closing::finish);

  // What became of the jobs so far. A job is counted right behind its Future: exact after wait()
  // and close().
  [[nodiscard]] Tally tally() const;

  // Workers: what was asked for, or fewer where they could not be started.
  [[nodiscard]] std::size_t width() const noexcept;

 private:
  enum class Refusal : std::uint8_t { wait, at_once };  // of a full pool; wait: if OnFull says so

  template <auto kernel, class Arguments>
  static constexpr void check() {
    static_assert(std::is_trivially_copyable_v<Arguments>,
                  "submit: a kernel's arguments are copied byte by byte to another process: hand "
                  "it numbers, and pointers and spans into shared memory");
    static_assert(detail::JobKernel<kernel, Arguments>,
                  "submit: a kernel is a function (const Arguments&), without a capture");
    static_assert(sizeof(Arguments) <= max_arguments && alignof(Arguments) <= 64,
                  "submit: at most 4096 bytes of arguments: hand it a pointer into shared memory");
    using Result = detail::JobResult<kernel, Arguments>;
    if constexpr (!std::is_void_v<Result>) {
      static_assert(std::is_trivially_copyable_v<Result>,
                    "submit: a result is copied byte by byte from another process");
      static_assert(sizeof(Result) <= max_result && alignof(Result) <= 64,
                    "submit: at most 4096 bytes of result: write more into shared memory");
    }
  }

  template <auto kernel, class Result, class Arguments>
  Status hand_over(const Arguments& arguments, const ProcessJobOptions& options, Refusal refusal,
                   Future<Result>& future) {
    constexpr detail::JobCall call = &detail::call_job<kernel, Arguments>;
    detail::RawBox<detail::OwedJob<Result>> box;
    std::uint32_t place = 0;
    if (const Status said = reserve(call, options, refusal, place); said != Status::ok) return said;
    detail::OwedJob<Result>* const job = box.make(options.name);
    future = detail::FutureAccess::make<Result>(job);
    publish(place, *job, call, std::addressof(arguments), sizeof(Arguments), options);
    return Status::ok;
  }

  // A place for one job, to be published; or full, closed, and, if it waited, stopped or timed_out.
  Status reserve(detail::JobCall call, const ProcessJobOptions& options, Refusal refusal,
                 std::uint32_t& place);
  void publish(std::uint32_t place, detail::ProcessJob& job, detail::JobCall call,
               const void* arguments, std::size_t bytes, const ProcessJobOptions& options) noexcept;

  struct End {
    void operator()(detail::JobMaster* master) const noexcept;
  };
  std::unique_ptr<detail::JobMaster, End> master_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
