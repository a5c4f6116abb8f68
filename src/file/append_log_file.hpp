// SPDX-License-Identifier: MIT
//
// The files of an AppendLog, as its writer has them: the directory, its lock, and the segment that
// grows. Opens and recovers them, and writes what a leader gives it.
//
// Concurrency: open(), write(), sync() and finish() by one thread at a time; trim(), by one at a
// time too, and first() beside them.
// Errors: values. After a failed write() or sync() only the destructor may follow.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/append_log_options.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/file/file_result.hpp>
#include <handoff/sync/mutex.hpp>
#include <span>
#include <string>
#include <vector>

#include "append_log_format.hpp"
#include "append_log_scan.hpp"
#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class AppendLogFile {
 public:
  AppendLogFile(std::string directory, const AppendLogOptions& options);
  ~AppendLogFile();

  // Makes or recovers the log. All that is there afterwards is durable. Throws std::bad_alloc.
  FileFailure open();
  // The sequence number of the last record that is there; 0: none.
  [[nodiscard]] std::uint64_t last() const noexcept { return next_sequence_ - 1; }
  [[nodiscard]] std::uint64_t first() const noexcept;

  // Appends a batch of `count` records: room for a head, and what put() made of them. The records
  // up to `durable` are. If it begins a new segment, all before it is durable first.
  FileFailure write(std::span<std::byte> batch, std::uint64_t count,
                    std::uint64_t durable) noexcept;
  // What was written is durable.
  FileFailure sync() noexcept;
  // Says at the end that all is durable, and gives back the room that was reserved. What fails here
  // loses nothing.
  void finish() noexcept;
  // Another writer may have the log. A lock of an open file would last as long as a child that was
  // forked, so it is taken back; in such a child nothing is done, as it is the parent's.
  void unlock() noexcept;

  // How many segments were removed.
  FileResult trim(std::uint64_t sequence);

  [[nodiscard]] const AppendLogCut& cut() const noexcept { return cut_; }
  [[nodiscard]] std::uint64_t segments_begun() const noexcept { return begun_; }
  [[nodiscard]] std::uint64_t log() const noexcept { return log_; }
  FileFailure failure(int error, FileOperation operation, const char* call, const char* name,
                      std::uint64_t offset) const noexcept;
  // The failure of a step that moves no bytes: "make the folder".
  FileFailure failed_step(const char* step, int error, const char* call,
                          const char* name = nullptr) const noexcept;

 private:
  // A head of a batch that may not be durable.
  struct Unproven {
    std::uint64_t offset;
    std::uint64_t first;
  };

  FileFailure begin_log(std::uint64_t first);
  FileFailure open_directory();
  FileFailure sync_parent();
  FileFailure lock();
  int set_lock(short kind) noexcept;
  FileFailure recover(std::uint64_t first);
  FileFailure read_segment(AppendLogScan& scan, const char* name, std::uint64_t& proven);
  FileFailure keep(std::uint64_t from, std::uint64_t to);
  FileFailure make_kept(std::uint64_t from, std::string& name, OwnFile& kept);
  FileFailure copy_to(int file, const char* name, std::uint64_t at, std::uint64_t from,
                      std::uint64_t to);
  FileFailure begin_segment(std::uint64_t first) noexcept;
  FileFailure sync_directory() noexcept;
  void preallocate() noexcept;
  std::uint64_t free_bytes() noexcept;
  void write_zeros(std::uint64_t from) noexcept;
  int open_in_directory(OwnFile& file, const char* name, int flags, std::uint32_t mode) noexcept;
  long unlink(const char* name) noexcept;
  int fsync(FileCallKind kind, int descriptor) noexcept;
  int fsync_directory(int descriptor) noexcept;
  int truncate(std::uint64_t bytes) noexcept;

  const std::string directory_;
  const AppendLogOptions options_;
  FileTap* const tap_;
  OwnFile directory_file_{tap_};
  OwnFile lock_file_{tap_};
  OwnFile segment_{tap_};
  SegmentName name_{};  // of the segment
  std::uint64_t log_ = 0;  // its random number
  std::uint64_t offset_ = 0;  // where the next batch goes
  std::uint64_t next_sequence_ = 1;
  std::uint64_t room_ = 0;  // up to here the segment has its room on the device; 0: it has none
  std::uint64_t zeroed_ = 0;  // ... and up to here it was written, be it with zeros
  bool unsynced_ = false;  // something was written since the last sync
  bool finished_ = false;  // it ends with a head that says that all is durable
  std::uint64_t begun_ = 0;
  AppendLogCut cut_;
  const pid_t owner_;  // the process

  mutable sync::Mutex segments_mutex_;
  std::vector<std::uint64_t> segments_;  // first numbers, oldest first
};

}}}  // namespace handoff::HANDOFF_ABI::detail
