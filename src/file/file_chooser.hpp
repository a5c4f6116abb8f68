// SPDX-License-Identifier: MIT
//
// Which driver makes the calls of a request. One backend was asked for: that one. `automatic` goes
// by a rule: io_uring has the transfers that bypass the page cache, threads have all else. Why:
// docs/design/file_engine.md.
//
// Whether there can be a ring is asked only for the first such transfer, or when choice() is asked.
// Concurrency: none of its own; the engine's mutex. Throws: the constructor; choice().
#pragma once

#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/file/file_engine_options.hpp>
#include <memory>

#include "driver.hpp"
#include "file_task.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FileChooser {
 public:
  FileChooser(FileHost& host, const FileEngineOptions& options);
  ~FileChooser() { close(); }

  // Gives the task its driver.
  void choose(FileTask& task) noexcept;
  bool runs_in_caller(const FileTask& task) const noexcept { return task.driver == caller_.get(); }
  FileChoice choice() const;
  // Once nothing runs.
  void close() noexcept;

 private:
  FileDriver* driver_for(const FileRequest& request) noexcept;
  void make_ring() noexcept;

  FileHost& host_;
  const FileEngineOptions options_;
  std::size_t width_;
  int ring_error_ = 0;  // why there is no ring; 0: not known, or there may be one
  std::unique_ptr<FileDriver> caller_;
  std::unique_ptr<FileDriver> threads_;
  std::unique_ptr<FileDriver> ring_;
  bool last_was_direct_ = false;  // the last request that was chosen for by rule
};

}}}  // namespace handoff::HANDOFF_ABI::detail
