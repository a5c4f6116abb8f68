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

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileTap;
}  // namespace detail

// Who makes the system calls.
enum class FileBackend : std::uint8_t {
  automatic,  // what is fastest here: measured while it works
  caller,     // the thread that submits, before submit() returns
  io_thread,  // one thread
  pool,       // `width` threads
  thread_per_request,  // a thread that lives as long as its request, `width` at once
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
  std::uint64_t bytes_in_flight = std::uint64_t{256} << 20;  // of requests that have begun; one
                                                             // that is larger runs alone
  std::uint64_t bytes_per_second = 0;  // its share of the device; 0: no limit
  std::string beneath = {};  // a directory that no path may leave, also by no link; "": anywhere
  detail::FileTap* tap = nullptr;  // for tests: sees and changes every system call
};

// Why the engine works as it does. Racy while it works.
struct FileChoice {
  FileBackend backend = FileBackend::caller;  // the one in use
  std::size_t width = 0;
  bool io_uring_possible = false;
  int io_uring_error = 0;  // why not: an errno
  std::string why = {};  // a sentence: what was measured, or why nothing was
};

}}  // namespace handoff::HANDOFF_ABI
