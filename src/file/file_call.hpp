// SPDX-License-Identifier: MIT
//
// One system call about a file, as data: what an operation wants next, and what a thread performs
// or a ring hands to the kernel. All calls of the room go through perform() or the ring, so that a
// tap sees each.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/detail/file_tap.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct FileCall {
  FileCallKind kind = FileCallKind::other;
  int descriptor = AT_FDCWD;  // the file, or the directory of `path`
  int to_descriptor = AT_FDCWD;
  const char* path = nullptr;
  const char* to_path = nullptr;
  int flags = 0;            // of open, unlink, link
  std::uint64_t resolve = 0;  // of open: openat2's; 0: openat
  std::uint32_t mode = 0;
  std::uint64_t offset = 0;
  std::uint64_t to_offset = 0;  // of copy_range
  std::uint64_t bytes = 0;
  const iovec* pieces = nullptr;
  std::size_t piece_count = 0;
  struct statx* attributes = nullptr;  // where stat writes
  std::uint32_t tag = 0;               // the operation's own
};

// The most pieces that a call takes (IOV_MAX); the rest comes with the next one.
inline constexpr std::size_t kMostPieces = 1024;
// Direct calls begin and end at such offsets, in the file and in memory.
inline constexpr std::size_t kDirectBlock = 4096;

// For the tap.
FileCallView view(const FileCall& call) noexcept;

// Makes the call now, on this thread. A negative errno, or what it returned. EINTR is not retried
// here: an operation does that. `tap` may be null.
long perform(const FileCall& call, FileTap* tap) noexcept;

// lseek(), which moves `offset` and returns 0, or -1: a long may be too short for an offset.
int seek_in(int file, std::uint64_t& offset, int whence) noexcept;

// A call that is not one of FileCallKind's own, under the tap as `other`.
template <class Function>
long perform_other(const char* name, int descriptor, const char* path, FileTap* tap,
                   Function&& function) noexcept {
  const FileCallView call{.name = name, .descriptor = descriptor, .path = path};
  if (tap != nullptr) {
    const FileTap::Verdict verdict = tap->before(call);
    if (verdict.kind == FileTap::Verdict::answer) {
      tap->after(call, verdict.value);
      return verdict.value;
    }
  }
  const long result = function();
  if (tap != nullptr) tap->after(call, result);
  return result;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
