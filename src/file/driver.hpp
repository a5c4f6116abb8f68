// SPDX-License-Identifier: MIT
//
// What makes the system calls of runs: threads (thread_drivers.cpp) or the kernel's io_uring. A
// driver knows no operation: it asks a run what to call next, makes the call and says what came of
// it (file_run.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/file/detail/file_executor.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/file/file_engine_options.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <string>

#include "file_run.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FutureState;
class Workplace;

// What a driver tells.
class FileHost {
 public:
  // The run said `ended`; it may be gone when this returns. On the driver's thread, which holds no
  // lock: the host may start other runs from here, and user's code may run.
  virtual void ended(FileRun& run) noexcept = 0;

 protected:
  ~FileHost() = default;
};

class FileDriver {
 public:
  FileDriver() noexcept = default;
  FileDriver(const FileDriver&) = delete;
  FileDriver& operator=(const FileDriver&) = delete;
  virtual ~FileDriver() = default;

  // Begins a run, or goes on with one that was parked. By any thread, also from inside
  // FileHost::ended() and from inside FileRun::next() of another run. Never fails: the queue is
  // linked through FileRun::queued_behind.
  virtual void start(FileRun& run) noexcept = 0;
  // The same for a run that a callback posted, on the thread that calls back and before it returns:
  // that thread may drive the run itself afterwards.
  virtual void follow(FileRun& run) noexcept { start(run); }
  // By a task that waits `here` for a run of this driver, whose result is not ready: with a lock
  // that close() waits for. Whether there is something to drive, which drive_queued() then does
  // until it is ready, without the lock; after that the driver may be gone.
  virtual bool may_help() noexcept { return false; }
  virtual void drive_queued(const FutureState& /*awaited*/, Workplace& /*here*/) noexcept {}
  static sync::Mutex& helping() noexcept;
  // Ends its threads, once all runs have ended. The host calls it once.
  virtual void close() noexcept = 0;
};

struct FileDriverOptions {
  std::size_t width = 1;  // runs that are driven at once, or calls in the ring
  std::string name = {};  // of its threads
  FileTap* tap = nullptr;
  FileExecutor executor = {};  // the user's; none: a pool of its own
  std::chrono::nanoseconds idle_time = {};  // ... whose threads leave then, but for one
};

// The thread that calls start(). A run that is started while the thread drives another one follows
// that one.
std::unique_ptr<FileDriver> make_caller_driver(FileHost& host, const FileDriverOptions& options);
// The threads of an executor. A pool of its own has one, and starts more when they are needed.
// Throws std::system_error if the first one cannot be had.
std::unique_ptr<FileDriver> make_executor_driver(FileHost& host, const FileDriverOptions& options);

}}}  // namespace handoff::HANDOFF_ABI::detail
