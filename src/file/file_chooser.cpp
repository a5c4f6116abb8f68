// SPDX-License-Identifier: MIT
//
// The drivers that an engine may need, and the rule that chooses among them.
#include "file_chooser.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <system_error>

#include "open_file_state.hpp"
#include "ring_driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kRingWidth = 64;
constexpr std::size_t kThreadsAtOnce = 64;
constexpr std::chrono::seconds kIdle{10};  // then threads leave

bool is_direct(const FileRequest& request) noexcept {
  return request.file.valid() ? OpenFileAccess::state(request.file)->direct : request.direct;
}

std::size_t width_of(const FileEngineOptions& options) noexcept {
  switch (options.backend) {
    case FileBackend::caller:
    case FileBackend::io_thread: return 1;
    case FileBackend::thread_per_request:
      return options.width != 0 ? options.width : kThreadsAtOnce;
    case FileBackend::io_uring: return options.width != 0 ? options.width : kRingWidth;
    case FileBackend::automatic:
    case FileBackend::pool: break;
  }
  if (options.width != 0) return options.width;
  // Threads that wait for a device cost nothing: twice as many as can run.
  return std::clamp<std::size_t>(std::size_t{2} * sync::recent_cpu_budget().width(), 4, 16);
}

}  // namespace

FileChooser::FileChooser(FileHost& host, const FileEngineOptions& options)
    : host_(host), options_(options), width_(width_of(options)) {
  FileDriverOptions wanted{.width = width_,
                           .name = options.name,
                           .tap = options.tap,
                           .executor = options.executor,
                           .idle_time = kIdle};
  if (options.executor && options.backend != FileBackend::automatic &&
      options.backend != FileBackend::pool) {
    misuse("FileEngine: an executor makes the calls of the backends automatic and pool");
  }
  caller_ = make_caller_driver(host, wanted);
  switch (options.backend) {
    case FileBackend::caller: break;
    case FileBackend::automatic:
    case FileBackend::io_thread:
    case FileBackend::pool: threads_ = make_executor_driver(host, wanted); break;
    case FileBackend::thread_per_request:
      wanted.idle_time = {};
      threads_ = make_executor_driver(host, wanted);
      break;
    case FileBackend::io_uring:
      ring_ = make_ring_driver(host, wanted, ring_error_);
      if (ring_ == nullptr) {
        raise(std::system_error(ring_error_, std::generic_category(),
                                "FileEngine: io_uring is not to be had here"));
      }
      break;
  }
}

void FileChooser::make_ring() noexcept {
  const auto make = [this] {
    ring_ = make_ring_driver(
        host_, {.width = kRingWidth, .name = options_.name, .tap = options_.tap}, ring_error_);
  };
  const bool whole = attempt(make, [this]() noexcept { ring_error_ = EAGAIN; });
  if (whole && ring_ == nullptr && ring_error_ == 0) ring_error_ = ENOSYS;
}

// The rule. Threads are as good where the bytes go through the page cache or a name changes: the
// ring has threads of the kernel's for that.
FileDriver* FileChooser::driver_for(const FileRequest& request) noexcept {
  switch (options_.backend) {
    case FileBackend::caller: return caller_.get();
    case FileBackend::io_uring: return ring_.get();
    case FileBackend::io_thread:
    case FileBackend::pool:
    case FileBackend::thread_per_request: return threads_.get();
    case FileBackend::automatic: break;
  }
  last_was_direct_ = is_direct(request);
  if (last_was_direct_ && ring_ == nullptr && ring_error_ == 0) make_ring();
  return last_was_direct_ && ring_ != nullptr ? ring_.get() : threads_.get();
}

void FileChooser::choose(FileTask& task) noexcept {
  task.driver = task.runs_here ? caller_.get() : driver_for(task.request());
}

FileChoice FileChooser::choice() const {
  FileChoice told;
  told.backend = options_.backend;
  told.width = width_;
  told.io_uring_error = ring_ != nullptr ? 0 : ring_error_ != 0 ? ring_error_ : ring_refusal();
  told.io_uring_possible = told.io_uring_error == 0;
  told.why = "the program asked for it";
  if (options_.backend != FileBackend::automatic) return told;
  told.backend = FileBackend::pool;
  told.why = "threads make the calls that use the page cache";
  if (!last_was_direct_) return told;
  if (ring_ == nullptr) {
    told.why = "threads make the calls that bypass the page cache: no io_uring, " +
               std::generic_category().message(told.io_uring_error);
    return told;
  }
  told.backend = FileBackend::io_uring;
  told.width = kRingWidth;
  told.why = "io_uring makes the calls that bypass the page cache";
  return told;
}

void FileChooser::close() noexcept {
  for (FileDriver* const driver : {caller_.get(), threads_.get(), ring_.get()}) {
    if (driver != nullptr) driver->close();
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
