// SPDX-License-Identifier: MIT
//
// The directories that a copy of trees is working in, as pairs of descriptors.
//
// All calls name files relative to a descriptor, so a name is looked up in the directory that was
// walked into, and nowhere else. A tree may be deeper than there are descriptors: those of
// directories that nothing is being done in are closed when there are too many, and opened again
// from below ("..") or from above, a root by its path. Opened again, a directory must be the same
// as before.
//
// Concurrency: the book is thread-safe; a folder's descriptors are used between pin() and unpin().
#pragma once

#include <fcntl.h>

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/mutex.hpp>
#include <string>
#include <string_view>

#include "copy_tree_calls.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// How the directories of a tree are opened: never through a link.
inline constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
// Roots are what the caller named; they need not be readable.
inline constexpr int kOpenRoot = O_PATH | O_DIRECTORY;

struct CopyFolder {
  CopyFolder* parent = nullptr;  // null: a root, where sources and their copies stand
  std::string from_name;         // in the parent's source; of a root the path
  std::string name;              // in the parent's destination; of a root the path
  std::string temporary;         // ... as long as it is not finished; "": there is none
  int from = -1;
  int to = -1;
  bool to_is_path = false;  // `to` cannot be read, only gone through
  FileId from_id;
  FileId to_id;
  struct statx attributes{};  // of the source
  bool made = false;           // it is new: nobody else's names are in it
  bool inherits = false;       // what is made in it gets a default ACL

  // The book's.
  unsigned users = 0;
  unsigned references = 1;
  std::uint64_t work = 1;  // entries and folders in it that are not finished
  CopyFolder* older = nullptr;  // among those that are open and not used
  CopyFolder* newer = nullptr;
  bool idle = false;

  // Its name in the parent's destination at present.
  const std::string& disk_name() const noexcept { return temporary.empty() ? name : temporary; }
  // The copy's directory, to be changed itself.
  FileRef copy() const noexcept { return {to, to_is_path ? "." : nullptr}; }
};

class CopyFolders {
 public:
  // Keeps about `most` directories open.
  CopyFolders(const CopyCalls& calls, std::size_t most) noexcept : calls_(calls), most_(most) {}

  // A new folder with its descriptors, which are the book's from now on; it is pinned, has one
  // piece of work and one reference, and is one more piece of work of its parent's.
  void add(CopyFolder& folder) noexcept;

  // Its descriptors are open until unpin(): 0. Else -errno; ESTALE: another stands there now.
  long pin(CopyFolder& folder) noexcept;
  void unpin(CopyFolder& folder) noexcept;

  void add_work(CopyFolder& folder, std::uint64_t count = 1) noexcept;
  // True: that was the last.
  bool end_work(CopyFolder& folder) noexcept;

  // The parent of a pinned folder is likely to be used next: opens it from below.
  void open_parent(CopyFolder& folder) noexcept;

  enum class Mutex : bool { free, held };
  // Where there are too few descriptors, those of directories that rest are given up first.
  long open(int in, const char* name, int flags, unsigned mode = 0,
            Mutex mutex = Mutex::free) noexcept;
  // The directory that is to be, or is, the copy's; `is_path`: it cannot be read.
  long open_copy(int in, const char* name, bool& is_path, Mutex mutex = Mutex::free) noexcept;

  void retain(CopyFolder& folder) noexcept;
  // The last one ends it; a root is not its.
  void release(CopyFolder* folder) noexcept;
  // Closes its descriptors.
  void rest(CopyFolder& folder) noexcept;
  // It is finished and stands under its own name.
  void named(CopyFolder& folder) noexcept;

  // For messages. A new directory may be gone under its temporary name by the time they are read.
  static std::string path(const CopyFolder& folder, bool in_copy, std::string_view name = {});

 private:
  bool spare_one() noexcept;
  // All with the mutex held. False: there is none that is not in use.
  bool spare() noexcept;
  long open_again(CopyFolder& folder) noexcept;
  long open_by_name(CopyFolder& folder) noexcept;
  bool adopt(CopyFolder& folder, long from, long to, bool to_is_path) noexcept;
  void opened() noexcept;
  void idle(CopyFolder& folder) noexcept;
  void busy(CopyFolder& folder) noexcept;
  void close(CopyFolder& folder) noexcept;
  void close_some() noexcept;

  const CopyCalls& calls_;
  const std::size_t most_;
  sync::Mutex mutex_;
  std::size_t open_ = 0;
  CopyFolder* oldest_ = nullptr;
  CopyFolder* newest_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
