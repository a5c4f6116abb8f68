// SPDX-License-Identifier: MIT
//
// Copies trees of files by several threads: contents, modes, times, owners, links, hard links,
// holes and extended attributes.
//
//   handoff::CopyTreeResult copied = handoff::copy_tree({"photos", "notes.txt"}, "/mnt/backup");
//   for (const handoff::CopyTreeProblem& p : copied.problems) log(p.text());
//   if (!copied.ok()) ...
//
// For: what `cp -a` is for. Not for: one file (FileEngine::copy), keeping two trees alike.
//
// Where to: a destination that is a directory gets the sources inside, each under its own name;
// else the one source becomes the destination. What stands there is replaced, directories are
// merged. "SOURCE/." is what is in it. A destination that ends in a slash is, or becomes, a
// directory.
//
// Contract:
// - Concurrency: thread-safe, as far as the trees are different ones.
// - Whole or not at all: a file gets its name when it is written whole, with `durable` when it is
//   on the device. A new directory gets its name when all in it has been tried; until then it
//   stands beside under a temporary name, ".NAME.RANDOM.handoff~", which is also what a kill may
//   leave behind.
// - Never follows a link, neither in the source nor below the destination, also where a directory
//   is swapped for a link meanwhile. Never writes into a file that is there: it is replaced by
//   another, so that no source and no hard link to one is overwritten.
// - Devices, FIFOs and sockets of the destination are replaced by their own kind only: a file that
//   would stand there is a problem.
// - Rights never widen: a file that is not finished is its owner's alone (in a new directory, that
//   is). Where a group cannot be kept, the group gets no more than others have; where an access
//   list cannot be kept, no more than the list gives it.
// - Errors: each is in `problems`, and all else is copied. A copy inside its own source and the
//   reverse, several sources for what is no directory, and two sources of one name are refused
//   before anything is written: `refusal`. What fails for lack of memory is a problem as well.
// - A file that changes while it is read is read again, three times at most; then the last copy
//   stays and a problem says so. One that was replaced under its name is copied as it was opened.
//   One that is gone is a problem.
// - Special files are made anew (devices need root). Owners are kept as far as the system permits:
//   without root the caller owns the copies, which then lose set-user-ID bits. Attributes of the
//   spaces `security` and `trusted` that the system refuses are left out in silence; each other one
//   that is lost is a problem.
// - Durable: ends after a sync of each file system written to. If that fails, nothing gets its
//   name, and a problem says where it stands.
// - Blocks: as long as it takes. Starts threads of its own. Throws: std::bad_alloc before it began.
//
// How it works: docs/guide/files.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/file/copy_tree_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What was not copied as it should, and why.
struct CopyTreeProblem {
  std::string path;  // of the source; of the destination where that is at fault
  std::string what;  // "open", "write at 4096", "differs at 17"
  int error = 0;  // an errno; 0: `what` says all

  // One line: path, what, why. Bytes that would break the line are escaped.
  [[nodiscard]] std::string text() const;
};

// What a copy did.
struct [[nodiscard("it says what was not copied")]] CopyTreeResult {
  std::uint64_t files = 0;  // regular ones, hard links among them
  std::uint64_t directories = 0;  // made or merged
  std::uint64_t links = 0;  // symbolic ones
  std::uint64_t special_files = 0;  // FIFOs, sockets, devices
  std::uint64_t bytes = 0;  // of contents
  std::uint64_t verified_bytes = 0;  // read back and compared
  std::vector<CopyTreeProblem> problems;  // each thing that was not copied as it should
  std::string refusal;  // nothing was begun; one line that says why
  bool stopped = false;  // by the stop token

  // Whether all was copied.
  [[nodiscard]] bool ok() const noexcept { return problems.empty() && refusal.empty() && !stopped; }
};

// Copies what `from` names to `to`. See above.
CopyTreeResult copy_tree(const std::vector<std::string>& from, const std::string& to,
                         CopyTreeOptions options = {});

}}  // namespace handoff::HANDOFF_ABI
