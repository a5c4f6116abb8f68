// SPDX-License-Identifier: MIT
//
// Makes the calls.
#include "file_call.hpp"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <handoff/probe/internal/slice.hpp>

#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/file_limit.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

const char* name_of(const FileCall& call) noexcept {
  switch (call.kind) {
    case FileCallKind::open: return call.resolve != 0 ? "openat2" : "openat";
    case FileCallKind::close: return "close";
    case FileCallKind::read: return "preadv";
    case FileCallKind::write: return "pwritev";
    case FileCallKind::fsync: return "fsync";
    case FileCallKind::fdatasync: return "fdatasync";
    case FileCallKind::preallocate: return "fallocate";
    case FileCallKind::truncate: return "ftruncate";
    case FileCallKind::rename: return "renameat";
    case FileCallKind::link: return "linkat";
    case FileCallKind::unlink: return "unlinkat";
    case FileCallKind::stat: return "statx";
    case FileCallKind::copy_range: return "copy_file_range";
    case FileCallKind::clone: return "FICLONE";
    case FileCallKind::make_directory: return "mkdirat";
    case FileCallKind::other: break;
  }
  return "other";
}

long copy_range(const FileCall& call) noexcept {
  auto from = static_cast<off_t>(call.offset);
  auto to = static_cast<off_t>(call.to_offset);
  return ::copy_file_range(call.descriptor, &from, call.to_descriptor, &to, call.bytes, 0);
}

// Whether it would be answered by a signal in place of EFBIG.
bool is_refused_by_limit(const FileCall& call) noexcept {
  switch (call.kind) {
    case FileCallKind::write: return is_beyond_limit(call.descriptor, call.offset);
    case FileCallKind::copy_range: return is_beyond_limit(call.to_descriptor, call.to_offset);
    // The limit is asked for the last byte that the file may have.
    case FileCallKind::truncate:
      return call.offset != 0 && is_beyond_limit(call.descriptor, call.offset - 1);
    case FileCallKind::preallocate:
      return call.bytes != 0 && is_beyond_limit(call.descriptor, call.offset + call.bytes - 1);
    default: return false;
  }
}

// As the C library says it: -1, and errno.
long make(const FileCall& call) noexcept {
  if (is_refused_by_limit(call)) {
    errno = EFBIG;
    return -1;
  }
  const auto offset = static_cast<off_t>(call.offset);
  const auto count = static_cast<int>(std::min(call.piece_count, kMostPieces));
  switch (call.kind) {
    case FileCallKind::open:
      if (call.resolve == 0) {
        return descriptors::of_file_in(call.descriptor, call.path, call.flags, call.mode);
      }
      return descriptors::of_resolved_file(call.descriptor, call.path, call.flags, call.mode,
                                           call.resolve);
    case FileCallKind::close: return ::close(call.descriptor);
    case FileCallKind::read:
      if (count == 1) {  // spares the kernel a copy of the list
        return ::pread(call.descriptor, call.pieces->iov_base, call.pieces->iov_len, offset);
      }
      return ::preadv(call.descriptor, call.pieces, count, offset);
    case FileCallKind::write:
      if (count == 1) {
        return ::pwrite(call.descriptor, call.pieces->iov_base, call.pieces->iov_len, offset);
      }
      return ::pwritev(call.descriptor, call.pieces, count, offset);
    case FileCallKind::fsync: return ::fsync(call.descriptor);
    case FileCallKind::fdatasync: return ::fdatasync(call.descriptor);
    case FileCallKind::preallocate:
      return ::fallocate(call.descriptor, call.flags, offset, static_cast<off_t>(call.bytes));
    case FileCallKind::truncate: return ::ftruncate(call.descriptor, offset);
    case FileCallKind::rename:
      // The C library declares its name for this among those that print.
      return ::syscall(SYS_renameat2, call.descriptor, call.path, call.to_descriptor, call.to_path,
                       0);
    case FileCallKind::link:
      return ::linkat(call.descriptor, call.path, call.to_descriptor, call.to_path, call.flags);
    case FileCallKind::unlink: return ::unlinkat(call.descriptor, call.path, call.flags);
    case FileCallKind::stat:
      return ::statx(call.descriptor, call.path, call.flags, STATX_BASIC_STATS, call.attributes);
    case FileCallKind::copy_range: return copy_range(call);
    case FileCallKind::clone: return ::ioctl(call.to_descriptor, FICLONE, call.descriptor);
    case FileCallKind::make_directory: return ::mkdirat(call.descriptor, call.path, call.mode);
    case FileCallKind::other: break;
  }
  errno = ENOSYS;
  return -1;
}

long make_and_say(const FileCall& call) noexcept {
  const long result = make(call);
  return result < 0 ? -static_cast<long>(errno) : result;
}

}  // namespace

FileCallView view(const FileCall& call) noexcept {
  return {.kind = call.kind,
          .name = name_of(call),
          .descriptor = call.descriptor,
          .to_descriptor = call.to_descriptor,
          .path = call.path,
          .to_path = call.to_path,
          .flags = call.flags,
          .offset = call.offset,
          .bytes = call.bytes,
          .pieces = call.pieces,
          .piece_count = call.piece_count};
}

int seek_in(int file, std::uint64_t& offset, int whence) noexcept {
  const off_t moved = ::lseek(file, static_cast<off_t>(offset), whence);
  if (moved < 0) return -1;
  offset = static_cast<std::uint64_t>(moved);
  return 0;
}

void shorten(FileCall& call, std::uint64_t most, std::span<iovec> room) noexcept {
  call.bytes = std::min(call.bytes, most);
  if (call.pieces == nullptr) return;
  std::size_t count = 0;
  for (; most > 0 && count < call.piece_count && count < room.size(); ++count) {
    room[count] = call.pieces[count];
    room[count].iov_len = std::min<std::size_t>(room[count].iov_len, most);
    most -= room[count].iov_len;
  }
  call.pieces = room.data();
  call.piece_count = count;
}

long perform(const FileCall& call, FileTap* tap) noexcept {
  const probe::Slice slice(probe::Kind::file, name_of(call));
  if (tap == nullptr) return make_and_say(call);
  const FileCallView seen = view(call);
  const FileTap::Verdict verdict = tap->before(seen);
  long result = 0;
  switch (verdict.kind) {
    case FileTap::Verdict::proceed: result = make_and_say(call); break;
    case FileTap::Verdict::shorten: {
      FileCall shorter = call;
      std::array<iovec, 64> room;
      shorten(shorter, static_cast<std::uint64_t>(std::max(verdict.value, 1L)), room);
      result = make_and_say(shorter);
      break;
    }
    case FileTap::Verdict::answer: result = verdict.value; break;
  }
  tap->after(seen, result);
  return result;
}

long perform_whole(const FileCall& call, FileTap* tap) noexcept {
  for (;;) {
    const long result = perform(call, tap);
    if (result != -EINTR || call.kind == FileCallKind::close) return result;
  }
}

long stat_of(int descriptor, struct statx& attributes, FileTap* tap) noexcept {
  return perform_whole({.kind = FileCallKind::stat,
                        .descriptor = descriptor,
                        .path = "",
                        .flags = AT_EMPTY_PATH,
                        .attributes = &attributes},
                       tap);
}

bool means_not_here(long result) noexcept {
  switch (-result) {
    case EOPNOTSUPP:
    case EXDEV:
    case EINVAL:
    case ENOSYS:
    case ENOTTY:
    case EPERM:
    case ETXTBSY:
    case EBADF: return true;
    default: return false;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
