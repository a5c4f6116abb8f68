// SPDX-License-Identifier: MIT
//
// New contents under an old name: a temporary file in the same directory, all of the contents, a
// sync, and only then the name (docs/design/file_engine.md). The temporary file never allows
// anybody more than the finished one does, and that no more than the old one did. On any failure it
// is removed, and the old file is as it was.
#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <handoff/core/detail/attempt.hpp>

#include "file_run.hpp"
#include "open_file_state.hpp"
#include "rights.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr unsigned kMostNames = 16;
constexpr std::size_t kAttributeMost = std::size_t{64} << 10;  // of a value, and of all keys

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
  if (result >= 0 && !S_ISLNK(target_.stx_mode)) there_ = Target::plain;
  if (result >= 0 && S_ISLNK(target_.stx_mode) && !request_.follow_last) {
    return fail(-ELOOP, "statx", "it is a link, and `follow_last` is false");
  }
  if (there_ != Target::none) {
    const int refused = refusal_of(target_);
    if (refused != 0) return fail(-refused, "statx", kNotRegular);
  }
  if (there_ != Target::none && source_ >= 0 && target_.stx_ino == attributes_.stx_ino &&
      device_of(target_) == device_of(attributes_)) {
    return fail(-EINVAL, "statx", "it would be copied onto itself");
  }
  if (there_ != Target::none && list_attributes(nullptr, 0) != 0) there_ = Target::with_attributes;
  make_temporary();
}

// How long the attributes' keys of the file that is there are. Unknown counts as some.
long FileRun::list_attributes(char* into, std::size_t bytes) noexcept {
  const long result = other("llistxattr", directory_, [&] {
    return list_attributes_at(directory_, parts_.name.c_str(), into, bytes);
  });
  return result == -EOPNOTSUPP ? 0 : result;
}

// As long as it is not known which owner, group and list it will have.
std::uint32_t FileRun::temporary_mode() noexcept {
  if (there_ != Target::none) {
    return early_mode(target_.stx_mode & kModeBits, there_ == Target::with_attributes);
  }
  if (source_ < 0) return request_.mode;
  // A copy under a new name keeps no owner, group or list: it allows what the source allows
  // anybody.
  const long list =
      other("fgetxattr", source_, [&] { return ::fgetxattr(source_, kAccessList, nullptr, 0); });
  const bool has_list = list != -ENODATA && list != -EOPNOTSUPP;
  return request_.mode & early_mode(attributes_.stx_mode & kModeBits, has_list);
}

void FileRun::make_temporary() noexcept {
  if (!attempt([&] { temporary_ = temporary_name(parts_.name); })) {
    return fail(-ENOMEM, "");
  }
  direct_ = source_ < 0 && may_be_direct();
  call({.kind = FileCallKind::open,
        .descriptor = directory_,
        .path = temporary_.c_str(),
        .flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | (direct_ ? O_DIRECT : 0),
        .mode = temporary_mode() & 0777},
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

// Owner, lists, `user` attributes and mode of the file that was there, as far as we may. Rights
// that cannot be kept are taken away. False: it failed.
bool FileRun::keep_rights() noexcept {
  struct statx made{};
  const long asked = perform_whole({.kind = FileCallKind::stat,
                                    .descriptor = fd_,
                                    .path = "",
                                    .flags = AT_EMPTY_PATH,
                                    .attributes = &made},
                                   services_.tap());
  if (asked < 0) return fail(asked, "statx"), false;
  std::uint32_t mode = target_.stx_mode & kModeBits;
  bool group_kept = made.stx_gid == target_.stx_gid;
  const bool moves = made.stx_uid != target_.stx_uid || !group_kept;
  if (moves) {
    const auto give = [this](unsigned user) {
      return other("fchown", fd_, [&] { return ::fchown(fd_, user, target_.stx_gid); }) >= 0;
    };
    // What runs as its owner does so for that owner only; and chown takes that away.
    const bool given = give(target_.stx_uid);
    if (!given) mode &= ~kSetId;
    group_kept = group_kept || given || give(~0u);
  }
  bool has_list = false;
  const bool had = there_ == Target::with_attributes;
  if (had && !keep_attributes(group_kept, has_list, mode)) return false;
  if (!has_list && !group_kept) mode = narrow_group(mode);
  if (!has_list && !drop_inherited_list(mode)) return false;
  if (!moves && !had && (made.stx_mode & kModeBits) == mode) return true;
  const long set = other("fchmod", fd_, [&] { return ::fchmod(fd_, mode); });
  if (set < 0) return fail(set, "fchmod"), false;
  return true;
}

bool FileRun::keep_attributes(bool& group_kept, bool& has_list, std::uint32_t& mode) noexcept {
  buffer_.clear();
  if (!attempt([&] { buffer_.resize(2 * kAttributeMost); })) {
    return fail(-ENOMEM, ""), false;
  }
  char* const keys = reinterpret_cast<char*>(buffer_.data());
  const std::span value = std::span(buffer_).subspan(kAttributeMost);
  const long listed = list_attributes(keys, kAttributeMost);
  if (listed == -ENOSYS) {  // nobody can say
    group_kept = false;
    return true;
  }
  if (listed < 0) return fail(listed, "llistxattr"), false;
  for (long at = 0; at < listed;) {
    const std::string_view key(keys + at);
    at += static_cast<long>(key.size()) + 1;
    const bool is_list = key == kAccessList;
    if (!is_list && !key.starts_with("user.")) continue;  // the system's, and of the old contents
    const long got = other("lgetxattr", directory_, [&] {
      return get_attribute_at(directory_, parts_.name.c_str(), key.data(), value.data(),
                              value.size());
    });
    if (got == -ENODATA) continue;  // it is gone
    if (got < 0) return fail(got, "lgetxattr"), false;
    const std::span<std::byte> kept = value.first(static_cast<std::size_t>(got));
    if (is_list && !group_kept) mode &= ~kOtherBits | narrow_group(kept);
    const auto set = [&] {
      return other("fsetxattr", fd_,
                   [&] { return ::fsetxattr(fd_, key.data(), kept.data(), kept.size(), 0); });
    };
    long result = set();
    if (result == -EACCES) {  // its mode does not let its owner write
      (void)other("fchmod", fd_, [&] { return ::fchmod(fd_, S_IRUSR | S_IWUSR); });
      result = set();
    }
    if (result < 0) return fail(result, "fsetxattr"), false;
    has_list = has_list || is_list;
  }
  return true;
}

// What the directory gives to new files, and the old one did not have.
bool FileRun::drop_inherited_list(std::uint32_t mode) noexcept {
  const long own =
      other("fgetxattr", fd_, [&] { return ::fgetxattr(fd_, kAccessList, nullptr, 0); });
  if (own < 0) return own == -ENODATA || own == -EOPNOTSUPP || (fail(own, "fgetxattr"), false);
  const auto plain = plain_list(mode);
  const long set = other("fsetxattr", fd_, [&] {
    return ::fsetxattr(fd_, kAccessList, plain.data(), plain.size(), 0);
  });
  return set >= 0 || (fail(set, "fsetxattr"), false);
}

void FileRun::contents_are_whole() noexcept {
  if (there_ != Target::none && !keep_rights()) return;
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
