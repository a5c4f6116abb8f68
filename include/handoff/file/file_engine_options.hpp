// SPDX-License-Identifier: MIT
//
// How a FileEngine works, and what it did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/config.hpp>
#include <handoff/core/capacity.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/file/detail/file_executor.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileTap;
}  // namespace detail

// Who makes the system calls. The rule of `automatic`: io_uring makes those of a request that
// bypasses the page cache (`direct`, in the request or of its OpenFile), for it has many of them
// under way at once. The pool makes all others, and these too where io_uring is not to be had.
// The rule never takes the caller's thread.
enum class FileBackend : std::uint8_t {
  automatic,  // io_uring or pool, by the rule above
  caller,     // the thread that submits, before submit() returns
  io_thread,  // one thread
  pool,       // `width` threads, which come when they are needed
  thread_per_request,  // a thread that leaves when no request waits, `width` at once
  io_uring,   // the kernel, `width` calls at once; one thread hands over and takes back
};
// The enumerator's name.
const char* to_string(FileBackend backend) noexcept;

struct FileEngineOptions {
  std::string name = "file";  // of its threads
  std::size_t width = 0;  // threads, or calls in the ring; 0: chosen
  std::size_t capacity = 4096;  // requests that were accepted and have not ended; or `unbounded`
  OnFull on_full = OnFull::wait;  // or reject, run_here
  FileBackend backend = FileBackend::automatic;  // what makes the calls
  detail::FileExecutor executor = {};  // with `automatic` or `pool`: an Executor, a ThreadPool say,
                                       // whose threads make the pool's calls, in blocking(), and
                                       // the callbacks; it outlives the engine
  std::uint64_t bytes_in_flight = std::uint64_t{256} << 20;  // of requests that have begun; one
                                                             // that is larger runs alone
  std::uint64_t bytes_per_second = 0;  // its share of the device; 0: no limit. At most 32
                                       // requests hold files while they wait for theirs
  std::string beneath = {};  // a directory that no path may leave, also by no link; "": anywhere
  detail::FileTap* tap = nullptr;  // for tests: sees and changes every system call
};

// How the engine works, and why. Racy while it works.
struct FileChoice {
  FileBackend backend = FileBackend::caller;  // in use; with `automatic`, for the last request
  std::size_t width = 0;
  bool io_uring_possible = false;
  int io_uring_error = 0;  // why not: an errno
  std::string why = {};  // a sentence
};

}}  // namespace handoff::HANDOFF_ABI
