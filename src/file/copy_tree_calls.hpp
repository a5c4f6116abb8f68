// SPDX-License-Identifier: MIT
//
// The system calls of copying trees, under the tap: a result, or a negative errno. Interrupted ones
// are made again.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>

#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Which file it is, as long as it lives.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};
FileId id_of(const struct statx& attributes) noexcept;

// A file: what is open under `file`, or with a name, what stands under it in the directory `file`.
// No link is followed.
struct FileRef {
  int file = -1;
  const char* name = nullptr;
};

class CopyCalls {
 public:
  explicit CopyCalls(FileTap* tap) noexcept : tap_(tap) {}

  FileTap* tap() const noexcept { return tap_; }

  long open(int in, const char* path, int flags, unsigned mode = 0) const noexcept;
  long close(int file) const noexcept;
  // Asks for the name in the directory `in`, never through a link; for `in` itself if it is "".
  long stat(int in, const char* name, struct statx& attributes) const noexcept;
  long read(int file, void* into, std::size_t bytes, std::uint64_t offset) const noexcept;
  // All of it: 0. Else -errno, and `written` says how much.
  long write(int file, const void* from, std::size_t bytes, std::uint64_t offset,
             std::size_t& written) const noexcept;
  long clone(int from, int to) const noexcept;
  long copy_range(int from, int to, std::uint64_t offset, std::uint64_t bytes) const noexcept;
  long truncate(int file, std::uint64_t bytes) const noexcept;
  // Makes it `bytes` long, of blocks that are its own.
  long reserve(int file, std::uint64_t bytes) const noexcept;
  // Whether what is read and written goes past the page cache.
  long go_direct(int file, bool direct) const noexcept;
  // Moves `offset`.
  long seek(int file, std::uint64_t& offset, int whence) const noexcept;
  // Begins to write back what is dirty, or with `wait` waits until it is.
  long write_back(int file, std::uint64_t offset, std::uint64_t bytes, bool wait) const noexcept;
  long advise(int file, std::uint64_t offset, std::uint64_t bytes, int advice) const noexcept;
  // How many pages of it are in the page cache.
  long cached(int file, std::uint64_t offset, std::uint64_t bytes) const noexcept;
  long sync_file_system(int file) const noexcept;

  long make_directory(int in, const char* name, unsigned mode) const noexcept;
  long rename(int in, const char* from, const char* to) const noexcept;
  long link(int from_in, const char* from, int to_in, const char* to) const noexcept;
  long unlink(int in, const char* name) const noexcept;
  long remove_directory(int in, const char* name) const noexcept;
  long read_link(int in, const char* name, char* into, std::size_t bytes) const noexcept;
  long make_link(const char* target, int in, const char* name) const noexcept;
  long make_node(int in, const char* name, unsigned mode, dev_t device) const noexcept;
  long entries(int directory, void* into, std::size_t bytes) const noexcept;

  long change_owner(FileRef file, unsigned user, unsigned group) const noexcept;
  long change_mode(FileRef file, unsigned mode) const noexcept;
  long change_times(FileRef file, const struct statx& as) const noexcept;

  // Extended attributes.
  long list_attributes(FileRef file, char* into, std::size_t bytes) const noexcept;
  long get_attribute(FileRef file, const char* key, void* into, std::size_t bytes) const noexcept;
  long set_attribute(FileRef file, const char* key, const void* from,
                     std::size_t bytes) const noexcept;

 private:
  // `function` makes the call as the C library does.
  template <class Function>
  long other(const char* call, FileRef file, const Function& function) const noexcept;

  FileTap* tap_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
