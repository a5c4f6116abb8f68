// SPDX-License-Identifier: MIT
//
// Which driver makes the calls of a request. One backend was asked for: that one. `automatic`: by
// rule at first, then by what was measured (docs/design/file_engine.md).
// Concurrency: none of its own; the engine's mutex. Throws: the constructor.
#pragma once

#include <cstddef>
#include <cstdint>
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
  FileChooser(const FileChooser&) = delete;
  FileChooser& operator=(const FileChooser&) = delete;

  // Gives the task its driver. `held`: how many requests there are, with this one.
  void choose(FileTask& task, std::size_t held) noexcept;
  void ended(FileTask& task) noexcept;
  bool runs_in_caller(const FileTask& task) const noexcept { return task.driver == caller_.get(); }
  FileChoice choice() const;
  // Once nothing runs.
  void close() noexcept;

 private:
  FileDriver* driver_of(FileBackend backend) noexcept;

  FileHost& host_;
  const FileEngineOptions options_;
  FileBackend backend_;
  std::size_t width_;
  int ring_error_ = 0;
  std::unique_ptr<FileDriver> caller_;
  std::unique_ptr<FileDriver> threads_;
  std::unique_ptr<FileDriver> ring_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
