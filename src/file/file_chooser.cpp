// SPDX-License-Identifier: MIT
//
// Choosing a driver.
#include "file_chooser.hpp"

#include <algorithm>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <system_error>

#include "ring_driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kRingWidth = 64;
constexpr std::size_t kThreadsAtOnce = 64;

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
    : host_(host), options_(options), backend_(options.backend), width_(width_of(options)) {
  const FileDriverOptions wanted{.width = width_, .name = options.name, .tap = options.tap};
  caller_ = make_caller_driver(host, wanted);
  ring_error_ = ring_refusal();
  switch (options.backend) {
    case FileBackend::caller: break;
    case FileBackend::automatic:
    case FileBackend::io_thread:
    case FileBackend::pool: threads_ = make_pool_driver(host, wanted); break;
    case FileBackend::thread_per_request:
      threads_ = make_thread_per_request_driver(host, wanted);
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

FileDriver* FileChooser::driver_of(FileBackend backend) noexcept {
  switch (backend) {
    case FileBackend::caller: return caller_.get();
    case FileBackend::io_uring: return ring_.get();
    default: return threads_.get();
  }
}

void FileChooser::choose(FileTask& task, std::size_t /*held*/) noexcept {
  task.driver = task.runs_here ? caller_.get() : driver_of(backend_);
}

void FileChooser::ended(FileTask& /*task*/) noexcept {}

FileChoice FileChooser::choice() const {
  FileChoice told;
  told.backend = backend_ == FileBackend::automatic ? FileBackend::pool : backend_;
  told.width = width_;
  told.io_uring_possible = ring_error_ == 0;
  told.io_uring_error = ring_error_;
  told.why = backend_ == FileBackend::automatic ? "a pool of threads: nothing was measured yet"
                                                : "the program asked for it";
  return told;
}

void FileChooser::close() noexcept {
  for (FileDriver* const driver : {caller_.get(), threads_.get(), ring_.get()}) {
    if (driver != nullptr) driver->close();
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
