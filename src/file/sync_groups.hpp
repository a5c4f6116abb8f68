// SPDX-License-Identifier: MIT
//
// One fsync for all that wait for one file. A run that wants a sync makes it, if nobody does;
// otherwise it waits, and the next sync of the file, which begins after it came, serves it and all
// others that wait then.
//
//   SG-1  A sync serves exactly the runs that were in `waiting` when it began (begin()), and the
//         one that makes it. All they wrote had been handed to the kernel before they came.
//   SG-2  It is made on the descriptor that was opened first among theirs. The kernel tells a
//         failed write-back once to each descriptor that was open then; the oldest hears of
//         whatever concerns any of them (docs/design/file_engine.md).
//   SG-3  While runs wait, one run makes a sync or was started to make one.
//   SG-4  A descriptor that has told a failure tells it no more: each later sync by it fails too,
//         for all it serves. Among these may be runs that wrote before that failure and came after
//         it (FileRun::sync()).
// Concurrency: thread-safe. Allocates, throws: never.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/mutex.hpp>

#include "file_run.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class SyncGroups {
 public:
  // True: the run makes the sync. False: it waits; its sync_place says then what became of it.
  bool join(FileRun& run) noexcept;
  // The descriptor whose sync serves all that wait now.
  int begin(FileRun& run) noexcept;
  // The sync is made. Starts those that it served, and one of those that came meanwhile.
  void end(FileRun& run, int error) noexcept;

 private:
  static constexpr std::size_t kBuckets = 64;

  FileRun*& bucket(const FileRun& run) noexcept {
    return makers_[(run.sync_place.inode ^ run.sync_place.device) % kBuckets];
  }
  // Where the run that makes the syncs of this file is linked, or would be.
  FileRun** find(const FileRun& run) noexcept;

  sync::Mutex mutex_;
  std::array<FileRun*, kBuckets> makers_{};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
