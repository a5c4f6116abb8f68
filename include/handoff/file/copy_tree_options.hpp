// SPDX-License-Identifier: MIT
//
// How copy_tree() works, and how far it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileTap;
}  // namespace detail

// How far a copy is. How much there is, is counted only with CopyTreeOptions::count: then, if all
// was copied, the last call has `counted`, and all of both.
struct CopyTreeProgress {
  std::uint64_t files = 0;  // done: as CopyTreeResult::files
  std::uint64_t bytes = 0;  // done: of contents
  std::uint64_t all_files = 0;  // there are, as far as they are counted
  std::uint64_t all_bytes = 0;
  bool counted = false;  // the last two are final
  bool syncing = false;  // all is copied, and on its way to the device
};

struct CopyTreeOptions {
  std::size_t width = 0;  // threads; 0: chosen
  KeptUntil until = {};  // ends early: what is whole stays, nothing half does
  bool durable = false;  // ends only when all of it outlives a loss of power
  bool verify = false;  // reads back what was written and compares it
  bool count = false;  // counts beside the copying how much there is, for the progress
  // Called about ten times a second, and twice at the end, by the thread that called copy_tree().
  // Must not throw.
  UniqueFunction<void(const CopyTreeProgress&)> progress = {};
  detail::FileTap* tap = nullptr;  // for tests: sees and changes every system call
};

}}  // namespace handoff::HANDOFF_ABI
