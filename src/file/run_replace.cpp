// SPDX-License-Identifier: MIT
//
// New contents under an old name: a temporary file in the same directory, all of the contents, a
// sync, and only then the name (docs/design/file_engine.md). The temporary file never allows more
// than the finished one does. On any failure it is removed, and the old file is as it was.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <handoff/core/detail/attempt.hpp>

#include "file_run.hpp"
#include "open_file_state.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::uint32_t kPermissions = 07777;
constexpr unsigned kMostNames = 16;

}  // namespace

void FileRun::begin_replace(long /*result*/) noexcept {
  open_directory(request_.path, &FileRun::replace_in_directory);
}

void FileRun::replace_in_directory(long /*result*/) noexcept {
  call({.kind = FileCallKind::stat,
        .descriptor = directory_,
        .path = parts_.name.c_str(),
        .flags = AT_SYMLINK_NOFOLLOW,
        .attributes = &target_},
       &FileRun::target_is_known);
}

// What is there decides about the mode; and whether it may be replaced at all. A link is replaced
// itself, unless the request refuses links.
void FileRun::target_is_known(long result) noexcept {
  if (result < 0 && result != -ENOENT) return fail(result, "statx");
  target_is_there_ = result >= 0 && !S_ISLNK(target_.stx_mode);
  if (result >= 0 && S_ISLNK(target_.stx_mode) && !request_.follow_last) {
    return fail(-ELOOP, "statx");
  }
  if (target_is_there_) {
    const int refused = refusal_of(target_);
    if (refused != 0) return fail(-refused, "statx");
  }
  if (target_is_there_ && source_ >= 0 && target_.stx_ino == attributes_.stx_ino &&
      device_of(target_) == device_of(attributes_)) {
    return fail(-EINVAL, "statx");  // a copy onto itself
  }
  make_temporary();
}

void FileRun::make_temporary() noexcept {
  if (!attempt([&] { temporary_ = temporary_name(parts_.name); }, []() noexcept {})) {
    return fail(-ENOMEM, "");
  }
  direct_ = source_ < 0 && may_be_direct();
  const std::uint32_t mode = target_is_there_ ? target_.stx_mode : request_.mode;
  call({.kind = FileCallKind::open,
        .descriptor = directory_,
        .path = temporary_.c_str(),
        .flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | (direct_ ? O_DIRECT : 0),
        .mode = mode & 0777},
       &FileRun::temporary_is_open);
}

void FileRun::temporary_is_open(long result) noexcept {
  if (result == -EINVAL && direct_) {
    // Some file systems make the file before they refuse.
    direct_ = false;
    call_.flags &= ~(O_DIRECT | O_EXCL);
    return call(call_, &FileRun::temporary_is_open);
  }
  if (result == -EEXIST && ++opens_ < kMostNames) return make_temporary();
  if (result < 0) return fail(result, "openat");
  has_temporary_ = true;
  fd_ = static_cast<int>(result);
  owns_fd_ = true;
  wrote_ = true;
  opened_ = opened_now();
  if (source_ >= 0) return temporary_is_ready_for_copy();
  total_ = request_.from.bytes();
  file_offset_ = 0;
  writes_ = true;
  if (total_ == 0 || !request_.durable) return transfer(&FileRun::contents_are_written);
  // Without room it fails before anything is written.
  call({.kind = FileCallKind::preallocate, .descriptor = fd_, .bytes = total_},
       &FileRun::preallocated);
}

void FileRun::contents_are_written(long /*result*/) noexcept { contents_are_whole(); }

// Owner and mode of the file that was there, as far as we may. False: it failed.
bool FileRun::keep_owner_and_mode() noexcept {
  struct statx made{};
  const long asked = perform_whole({.kind = FileCallKind::stat,
                                    .descriptor = fd_,
                                    .path = "",
                                    .flags = AT_EMPTY_PATH,
                                    .attributes = &made},
                                   services_.tap());
  if (asked < 0) return fail(asked, "statx"), false;
  std::uint32_t mode = target_.stx_mode & kPermissions;
  bool changes = (made.stx_mode & kPermissions) != mode;
  if (made.stx_uid != target_.stx_uid || made.stx_gid != target_.stx_gid) {
    const long given =
        other("fchown", fd_, [&] { return ::fchown(fd_, target_.stx_uid, target_.stx_gid); });
    // What runs as its owner does so for that owner only; and chown takes that away.
    if (given < 0) mode &= 0777;
    changes = true;
  }
  if (!changes) return true;
  const long set = other("fchmod", fd_, [&] { return ::fchmod(fd_, mode); });
  if (set < 0) return fail(set, "fchmod"), false;
  return true;
}

void FileRun::contents_are_whole() noexcept {
  if (target_is_there_ && !keep_owner_and_mode()) return;
  if (!request_.durable) return temporary_is_synced(0);
  // Nobody else can wait for this file.
  call({.kind = FileCallKind::fsync, .descriptor = fd_}, &FileRun::temporary_is_synced);
}

// Closed before it gets its name: what close() says still counts.
void FileRun::temporary_is_synced(long result) noexcept {
  if (result < 0) return fail(result, "fsync");
  const int descriptor = fd_;
  fd_ = -1;
  call({.kind = FileCallKind::close, .descriptor = descriptor}, &FileRun::temporary_is_closed);
}

void FileRun::temporary_is_closed(long result) noexcept {
  if (result < 0) return fail(result, "close");
  call({.kind = FileCallKind::rename,
        .descriptor = directory_,
        .to_descriptor = directory_,
        .path = temporary_.c_str(),
        .to_path = parts_.name.c_str()},
       &FileRun::name_is_changed);
}

void FileRun::name_is_changed(long result) noexcept {
  if (result < 0) return fail(result, "renameat");
  has_temporary_ = false;
  renamed_ = true;
  if (request_.durable) return sync_directory(&FileRun::directory_is_synced);
  stage(&FileRun::clean);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
