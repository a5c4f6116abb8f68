// SPDX-License-Identifier: MIT
//
// A process that takes away the names of shared memory which this one has made, when this one was
// killed. A fork server does that for its team; a team whose workers are another program has none.
//
//   NK-1  While a team of another program's workers and a name are there, a keeper is there, or
//         none could be forked: then the names stay, and no call fails for it. One that was killed
//         is replaced at the next name, or the next run.
//   NK-2  A program that makes no name is never forked for it: a fork of a large program is dear,
//         and keeps the pages that the program writes to afterwards twice.
//   NK-3  A fork of this process has no part in it: its names are its own (KN-3).
//
// Concurrency: any thread. Blocks: for the fork. Throws: never.
#pragma once

#include <sys/types.h>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A team whose workers are another program has one.
class NameKeeper {
 public:
  NameKeeper() noexcept;
  // With the last of them the process ends.
  ~NameKeeper();
  NameKeeper(const NameKeeper&) = delete;
  NameKeeper& operator=(const NameKeeper&) = delete;

 private:
  pid_t owner_;
};

// A name is about to be made, or may have lost its keeper.
void have_names_kept() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
