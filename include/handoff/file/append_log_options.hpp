// SPDX-License-Identifier: MIT
//
// How an AppendLog writes, what it found, and what it did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileTap;
}  // namespace detail

// When a record is made durable.
enum class AppendLogSync : std::uint8_t {
  each_append,  // append() returns when its record is durable
  on_request,  // ... when it is written, which a loss of power may undo; wait() and flush() sync
};

struct AppendLogOptions {
  AppendLogSync sync = AppendLogSync::each_append;  // when append() returns
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;  // of a file; one batch fits in any case
  std::uint64_t max_record_bytes = std::uint64_t{16} << 20;  // a longer record fails with EMSGSIZE
  std::size_t batch_bytes = std::size_t{1} << 20;  // what is written at once, unless a single
                                                   // record is longer; there are two of these
  bool preallocate = true;  // room on the device for a segment, where the file system can, and at
                            // most a 16th of what the device has left at a time; 128 KiB of zeros
                            // are written ahead of small batches
  std::uint32_t mode = 0666;  // of new files, less the umask
  detail::FileTap* tap = nullptr;  // for tests: sees and changes every system call
};

// What opening a log has cut off the end of its newest segment: the beginning of a batch that was
// being written when the writer ended, or a record that was acknowledged and is damaged. Nobody can
// tell the two apart, so it is kept: `file` has the bytes that stood there.
struct AppendLogCut {
  std::uint64_t bytes = 0;  // 0: nothing was cut
  std::uint64_t offset = 0;  // of the segment
  std::string file = {};  // in the log's directory; you may remove it once you have looked at it
};

// What was done since the log was opened. `records` / `syncs` is how many records share a sync.
struct AppendLogStatistics {
  std::uint64_t records = 0;  // written
  std::uint64_t batches = 0;  // the number of writes for them
  std::uint64_t syncs = 0;  // of batches
  std::uint64_t bytes = 0;  // written, with heads and padding
  std::uint64_t segments = 0;  // begun
};

}}  // namespace handoff::HANDOFF_ABI
