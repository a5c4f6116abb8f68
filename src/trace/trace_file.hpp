// SPDX-License-Identifier: MIT
//
// The file of a trace: opened so that two processes never write into one, and written by plain
// writes of whole lines.
//
// Concurrency: one thread's. Blocks: write(), as the system does; on a pipe that nobody reads for
// seconds, and then it fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

class TraceFile {
 public:
  TraceFile() noexcept = default;
  TraceFile(TraceFile&& other) noexcept
      : file_(std::exchange(other.file_, -1)), written_(other.written_) {}
  TraceFile& operator=(TraceFile&&) = delete;
  ~TraceFile() { close(); }

  // See start() in trace.hpp for the path.
  std::error_code open(const std::string& path);

  // All of it, or why not.
  std::error_code write(std::string_view text) noexcept;

  void close() noexcept;
  // In a child that was forked: the file is its parent's, and so is the lock.
  void forget() noexcept;

 private:
  int file_ = -1;
  std::uint64_t written_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
