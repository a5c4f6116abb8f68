// SPDX-License-Identifier: MIT
//
// What the handles of an open file share.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/open_file.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <string>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct OpenFileState {
  std::string path;
  FileTap* tap = nullptr;
  int descriptor = -1;
  bool direct = false;
  bool writable = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t opened = 0;  // see opened_now()
  sync::atomic<std::uint32_t> handles{1};
  // The errno of the first fsync that failed: from then on the data counts as lost.
  sync::atomic<int> sync_error{0};
};

struct OpenFileAccess {
  static OpenFileState* state(const OpenFile& file) noexcept { return file.state_; }
  static OpenFile make(OpenFileState* state) noexcept { return OpenFile(state); }
};

// What a sync by the file's descriptor stands for, an errno or 0: its first failure stays. `error`:
// what the sync said.
inline int lost_after(OpenFileState& file, int error) noexcept {
  // order: relaxed, the number is all there is; between two syncs of a file is the mutex of the
  // engine's SyncGroups, between two requests the delivery of the first one's result.
  int before = file.sync_error.load(sync::order::relaxed);
  if (before != 0 || error == 0) return before;
  // order: as above.
  const bool first = file.sync_error.compare_exchange_strong(before, error, sync::order::relaxed,
                                                             sync::order::relaxed);
  return first ? error : before;
}

// Numbers the descriptors of the process in the order in which they were opened: asked behind the
// open and before the first write.
std::uint64_t opened_now() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
