// SPDX-License-Identifier: MIT
//
// Counts what there is to copy while it is copied, for the time that is left. An estimate: what
// cannot be read, and what lies very deep, is not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/stop_token.hpp>
#include <string>
#include <unordered_set>
#include <vector>

#include "copy_tree_job.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class CopyCount {
 public:
  // Starts the thread, if there may be one more. It goes `deepest` directories deep, with a
  // descriptor for each.
  CopyCount(CopyJob& job, const std::vector<std::string>& from, std::size_t deepest);
  // Ends it.
  ~CopyCount();
  CopyCount(const CopyCount&) = delete;
  CopyCount& operator=(const CopyCount&) = delete;

 private:
  void count() noexcept;
  void count_below(int folder, std::size_t depth);
  void add(const struct statx& attributes);

  CopyJob& job_;
  const CopyCalls calls_{nullptr};  // no part of the copy
  const std::vector<std::string>& from_;
  const std::size_t deepest_;
  sync::StopSource over_;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
  std::unordered_set<FileId, FileIdHash> linked_;  // files with several names that were counted
  sync::Thread thread_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
