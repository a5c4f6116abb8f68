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
// Where to: if the destination is a directory, the sources get into it, each under its own name;
// else the one source becomes the destination. Existing files are replaced, directories are merged.
// "SOURCE/." stands for what is in it. A destination that ends in a slash is, or becomes, a
// directory.
//
// Contract:
// - Concurrency: thread-safe, if the trees are different ones.
// - Whole or not at all: a file gets its name when it is written whole, with `durable` when it is
//   on the device. A new directory gets its name when all in it has been tried. Until then it
//   stands beside under a temporary name, ".NAME.RANDOM.handoff~", which a kill may leave behind.
// - It follows no link, neither in the source nor below the destination, even if a directory is
//   swapped for a link meanwhile. It writes into no existing file, but replaces it, so that no
//   source and no hard link to one is overwritten. A file replaces no device, FIFO or socket.
// - Rights never widen: while a file is not finished, only its owner may open it, or its new
//   directory. If a group or an access list cannot be kept, nobody gets more than without it.
// - Errors: each is in `problems`, also a lack of memory, and all else is copied. `refusal` says
//   why nothing was begun: a copy inside its own source or the reverse, several sources for what is
//   no directory, two sources of one name.
// - A file that changes while it is read is read again, three times at most; then the last copy
//   stays, and a problem says so.
// - Special files are made anew (devices need root). Owners are kept as far as the system permits.
//   Attributes of the spaces `security` and `trusted` that the system refuses are left out in
//   silence; any other attribute that is lost is a problem.
// - Durable: it ends after a sync of each file system that it wrote to. If that fails, nothing gets
//   its name, and a problem says where it stands.
// - Blocks: as long as it takes, and starts threads of its own. Throws: std::bad_alloc, before it
//   has begun.
//
// Every case, and what differs from `cp -a`: docs/guide/files.md.
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
  bool stopped = false;  // `until` came before all was copied

  // Whether all was copied.
  [[nodiscard]] bool ok() const noexcept { return problems.empty() && refusal.empty() && !stopped; }
};

// Copies what `from` names to `to`. See above.
CopyTreeResult copy_tree(const std::vector<std::string>& from, const std::string& to,
                         CopyTreeOptions options = {});

}}  // namespace handoff::HANDOFF_ABI
