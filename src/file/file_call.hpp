// SPDX-License-Identifier: MIT
//
// One system call about a file, as data: what an operation wants next, and what a thread performs
// or a ring hands to the kernel. All calls of the room go through perform() or the ring, so that a
// tap sees each.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <span>
#include <utility>

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

// perform() until it was not interrupted.
long perform_whole(const FileCall& call, FileTap* tap) noexcept;

// The call's first `most` bytes; `room`: for the pieces that are left of it.
void shorten(FileCall& call, std::uint64_t most, std::span<iovec> room) noexcept;

// Asks about what is open there.
long stat_of(int descriptor, struct statx& attributes, FileTap* tap) noexcept;

// What a clone or a copy_range said: that it does not work between these two files, not that
// nothing can be copied.
bool means_not_here(long result) noexcept;

// A call that is not one of FileCallKind's own, under the tap as `other`, until it was not
// interrupted. `function` makes it as the C library does: -1, and errno.
template <class Function>
long perform_other(const char* name, int descriptor, const char* path, FileTap* tap,
                   Function&& function) noexcept {
  const FileCallView call{.name = name, .descriptor = descriptor, .path = path};
  for (;;) {
    FileTap::Verdict verdict;
    if (tap != nullptr) verdict = tap->before(call);
    long result = verdict.value;
    if (verdict.kind != FileTap::Verdict::answer) {
      const auto said = function();
      result = said < 0 ? -static_cast<long>(errno) : static_cast<long>(said);
    }
    if (tap != nullptr) tap->after(call, result);
    if (result != -EINTR) return result;
  }
}

// A descriptor that is closed with its owner, under the tap.
class OwnFile {
 public:
  explicit OwnFile(FileTap* tap, long number = -1) noexcept
      : tap_(tap), number_(static_cast<int>(number)) {}
  ~OwnFile() { (void)close(); }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  // Negative: there is none.
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  void swap(OwnFile& other) noexcept { std::swap(number_, other.number_); }
  // After EINTR the descriptor is gone: never again.
  long close() noexcept {
    if (number_ < 0) return 0;
    const long result = perform({.kind = FileCallKind::close, .descriptor = release()}, tap_);
    return result == -EINTR ? 0 : result;
  }
  // Opens what the call names in its place; 0, or an errno and it is as it was.
  int open(const FileCall& call) noexcept {
    OwnFile opened(tap_, perform_whole(call, tap_));
    if (opened.get() < 0) return -opened.get();
    swap(opened);
    return 0;
  }

 private:
  FileTap* tap_;
  int number_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
