// SPDX-License-Identifier: MIT
// Where files are measured: a folder of this run alone, and what file system and device it is on.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// TMPDIR, else the current folder, else /var/tmp or /tmp: the first one that can be written and
// is on a device. If there is none, one that is in memory. Empty: nothing can be written.
std::string folder_for_files();

// Nothing if it cannot be read, or is empty.
std::optional<std::string> first_line(const std::filesystem::path& path);

// What cannot be known is empty.
struct FileSystem {
  std::string kind;    // ext4
  std::string device;  // its name
  std::string model;
  std::optional<bool> rotational;
  std::string write_cache;  // as it says: "write back"
  std::uint64_t free_bytes = 0;
};
FileSystem file_system_of(const std::string& folder);

// A folder in folder_for_files() that is removed with all it holds. The next run there removes what
// a killed one has left.
class RunFolder : Pinned {
 public:
  RunFolder();  // throws UserError where none can be made
  ~RunFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace handoff::lab
