// SPDX-License-Identifier: MIT
//
// Sees every system call of the room file, before and after, and may change it: faults, records for
// simulated losses of power, calls that never reach the kernel. For tests; a normal engine has
// none.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>

struct iovec;

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum class FileCallKind : std::uint8_t {
  open,  // openat, or openat2 beneath a directory: a descriptor
  close,
  read,  // preadv
  write,  // pwritev
  fsync,  // of a file or a directory
  fdatasync,
  preallocate,  // fallocate
  truncate,  // ftruncate
  rename,  // renameat within one directory
  link,  // linkat: a name for a file without one
  unlink,
  stat,  // statx
  copy_range,  // copy_file_range
  clone,  // ioctl(FICLONE)
  make_directory,
  other,  // modes, times, owners, attributes, holes
};

// One call, as far as it concerns what is in files. Paths are relative to the directory
// descriptor.
struct FileCallView {
  FileCallKind kind = FileCallKind::other;
  const char* name = "";  // the system call
  int descriptor = -1;  // the file, or the directory that `path` is relative to (AT_FDCWD)
  int to_descriptor = -1;
  const char* path = nullptr;
  const char* to_path = nullptr;
  int flags = 0;  // of open
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // asked for
  const iovec* pieces = nullptr;  // of read and write
  std::size_t piece_count = 0;
};

class FileTap {
 public:
  // What to do with the call.
  struct Verdict {
    enum Kind : std::uint8_t {
      proceed,
      shorten,  // move at most `value` bytes; at least 1
      answer,  // do not make the call: it returned `value` (a negative errno, or a result)
    };
    Kind kind = proceed;
    long value = 0;
  };

  // On the thread that is about to make the call, or to hand it to the ring. Several threads call
  // at once.
  virtual Verdict before(const FileCallView& call) noexcept = 0;
  // What it returned: a negative errno, or a result.
  virtual void after(const FileCallView& call, long result) noexcept = 0;

 protected:
  ~FileTap() = default;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
