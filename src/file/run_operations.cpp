// SPDX-License-Identifier: MIT
//
// The operations, each from top to bottom. At their end a run removes and closes what is its own,
// before that it makes durable what is to be (file_run.cpp).
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <handoff/core/internal/attempt.hpp>
#include <string_view>
#include <utility>

#include "file_run.hpp"
#include "rights.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Behind a file that grows while it is read.
constexpr std::uint64_t kGrowth = std::uint64_t{1} << 20;
constexpr unsigned kMostNames = 16;
constexpr std::size_t kAttributeMost = std::size_t{64} << 10;  // of a value, and of all keys
constexpr const char* kTooLong = "longer than FileRequest::limit";

}  // namespace

FileRun::Steps FileRun::read() noexcept {
  if (!owns_its_data()) (void)co_await pause(Wants::bytes, request_.into.bytes());
  if (!co_await open_file(O_RDONLY)) co_return false;
  if (!owns_its_data()) {
    total_ = request_.into.bytes();
    co_return co_await transfer();
  }
  const std::uint64_t size = attributes_.bytes;
  const std::uint64_t there = size > file_offset_ ? size - file_offset_ : 0;
  if (there > request_.limit) co_return fail(-EFBIG, "", kTooLong);
  total_ = std::min(there, request_.length);
  // One byte more shows whether the file has grown.
  if (total_ < request_.length) ++total_;
  (void)co_await pause(Wants::bytes, total_);
  std::vector<std::byte>& data = FileResultAccess::data(result_);
  for (std::uint64_t bytes = 0;;) {
    if (!attempt([&] { data.resize(bytes + total_); })) co_return fail(-ENOMEM, "");
    own_memory_ = std::span(data).subspan(bytes);
    file_offset_ = request_.offset + bytes;
    if (!co_await transfer()) co_return false;
    bytes += moved();
    FileResultAccess::bytes(result_) = bytes;
    if (bytes > request_.limit) co_return fail(-EFBIG, "", kTooLong);
    if (saw_end_ || bytes == request_.length) {
      data.resize(bytes);
      co_return true;
    }
    // It has grown: on behind what is there.
    total_ = std::min(std::max(kGrowth, bytes / 2), request_.length - bytes);
    attributes_.bytes = 0;  // no longer known
  }
}

// ... and append.
FileRun::Steps FileRun::write() noexcept {
  total_ = end_ = request_.from.bytes();
  // If it is paced, for the share of its first piece too: while it waits nothing is changed. One
  // wait in a loop, as each makes the frame larger.
  for (Wants what = Wants::bytes;; what = Wants::share) {
    (void)co_await pause(what, what == Wants::bytes ? total_ : next_bytes());
    if (!is_paced_ || total_ == 0 || what == Wants::share) break;
  }
  const int error = is_paced_ ? may_move() : 0;
  if (error != 0) co_return fail(-error, "");
  if (!co_await open_file(O_WRONLY | (request_.create ? O_CREAT : 0))) co_return false;
  if (request_.operation == FileOperation::append) file_offset_ = attributes_.bytes;
  FileResultAccess::offset(result_) = file_offset_;
  wrote_ = true;
  const bool cuts = request_.truncate && request_.operation == FileOperation::write;
  if (cuts && attributes_.bytes > file_offset_) {
    if (co_await truncate(file_offset_) < 0) co_return call_failed();
  }
  if (request_.preallocate && total_ != 0) {
    // The length grows at once where the file will end there: pieces of direct IO may then land in
    // any order without changing it.
    preallocated_ = request_.truncate;
    (void)co_await preallocate(preallocated_ ? 0 : FALLOC_FL_KEEP_SIZE);
    if (!has_preallocated()) co_return false;
  }
  co_return co_await transfer();
}

// Whether to go on: also where the file system has no such call.
bool FileRun::has_preallocated() noexcept {
  if (said_ >= 0) return true;
  if (said_ != -EOPNOTSUPP && said_ != -ENOSYS) return call_failed();
  preallocated_ = false;
  return true;
}

FileRun::Steps FileRun::remove() noexcept {
  if (request_.durable || services_.beneath() != AT_FDCWD) {
    if (!co_await open_directory()) co_return false;
    (void)co_await unlink(directory_, parts_.name);
  } else {
    (void)co_await unlink(AT_FDCWD, request_.path);
  }
  const bool gone = said_ >= 0 || (said_ == -ENOENT && request_.missing_is_ok);
  co_return gone || call_failed();
}

// Any kind of file may be asked about.
FileRun::Steps FileRun::ask() noexcept {
  if (request_.file.valid()) {
    if (!co_await open_file(O_RDONLY)) co_return false;
  } else if (services_.beneath() == AT_FDCWD) {
    const int flags = request_.follow_last ? 0 : AT_SYMLINK_NOFOLLOW;
    if (co_await look_at(AT_FDCWD, request_.path.c_str(), flags) < 0) co_return call_failed();
  } else {
    call_ = open_call(request_.path, O_PATH | (request_.follow_last ? 0 : O_NOFOLLOW));
    if (co_await made() < 0) co_return call_failed();
    fd_ = static_cast<int>(said_);
    if (co_await look_at(fd_) < 0) co_return call_failed();
  }
  FileResultAccess::attributes(result_) = attributes_of(seen_);
  co_return true;
}

// ---- replaced and copied -----------------------------------------------------------------------

// New contents under an old name: a temporary file in the same directory, all of the contents, a
// sync, and only then the name (docs/design/file_engine.md). The temporary file never allows
// anybody more than the finished one does, and that no more than the old one did. On any failure it
// is removed, and the old file is as it was.
FileRun::Steps FileRun::replace() noexcept {
  const bool copies = request_.operation == FileOperation::copy;
  (void)co_await pause(Wants::bytes, copies ? kPiece : request_.from.bytes());
  if (copies) {
    if (!co_await open_file(O_RDONLY)) co_return false;
    source_ = std::exchange(fd_, -1);
    names_target_ = true;
  }
  if (!co_await open_directory()) co_return false;
  (void)co_await look_at(directory_, parts_.name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (said_ < 0 && said_ != -ENOENT) co_return call_failed();
  if (said_ >= 0 && !may_replace()) co_return false;
  for (unsigned names = 1;; ++names) {
    if (!attempt([&] { temporary_ = temporary_name(parts_.name); })) co_return fail(-ENOMEM, "");
    direct_ = !copies && may_be_direct();
    call_ = {.kind = FileCallKind::open,
             .descriptor = directory_,
             .path = temporary_.c_str(),
             .flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | (direct_ ? O_DIRECT : 0),
             .mode = temporary_mode() & 0777};
    (void)co_await made();
    if (said_ == -EINVAL && direct_) {
      // Some file systems make the file before they refuse.
      direct_ = false;
      call_.flags &= ~(O_DIRECT | O_EXCL);
      (void)co_await made();
    }
    if (said_ != -EEXIST || names == kMostNames) break;
  }
  if (said_ < 0) co_return call_failed();
  has_temporary_ = true;
  fd_ = static_cast<int>(said_);
  wrote_ = true;
  if (copies) {
    if (!co_await copy_contents()) co_return false;
  } else {
    total_ = request_.from.bytes();
    if (total_ != 0 && request_.durable) {  // without room it fails before anything is written
      (void)co_await preallocate(0);
      if (!has_preallocated()) co_return false;
    }
    if (!co_await transfer()) co_return false;
  }
  if (there_ != Target::none && !keep_rights()) co_return false;
  if (request_.durable) {  // nobody else can wait for this file
    if (co_await fsync(fd_) < 0) co_return call_failed();
  }
  // Closed before it gets its name: what close() says still counts.
  call_ = {.kind = FileCallKind::close, .descriptor = std::exchange(fd_, -1)};
  if (co_await made() < 0) co_return call_failed();
  call_ = {.kind = FileCallKind::rename,
           .descriptor = directory_,
           .to_descriptor = directory_,
           .path = temporary_.c_str(),
           .to_path = parts_.name.c_str()};
  if (co_await made() < 0) co_return call_failed();
  has_temporary_ = false;
  renamed_ = true;
  co_return true;
}

// What is there decides about the mode; and whether it may be replaced at all. A link is replaced
// itself, unless the request refuses links.
bool FileRun::may_replace() noexcept {
  if (S_ISLNK(seen_.stx_mode)) {
    if (request_.follow_last) return true;
    return fail(-ELOOP, "statx", "it is a link, and `follow_last` is false");
  }
  const int refused = refusal_of(seen_);
  if (refused != 0) return fail(-refused, "statx", kNotRegular);
  const bool is_source =
      source_ >= 0 && seen_.stx_ino == attributes_.inode && device_of(seen_) == attributes_.device;
  if (is_source) return fail(-EINVAL, "statx", "it would be copied onto itself");
  there_ = list_attributes(nullptr, 0) == 0 ? Target::plain : Target::with_attributes;
  return true;
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
    return early_mode(seen_.stx_mode & kModeBits, there_ == Target::with_attributes);
  }
  if (source_ < 0) return request_.mode;
  // A copy under a new name keeps no owner, group or list: it allows what the source allows
  // anybody.
  const long list =
      other("fgetxattr", source_, [&] { return ::fgetxattr(source_, kAccessList, nullptr, 0); });
  const bool has_list = list != -ENODATA && list != -EOPNOTSUPP;
  return request_.mode & early_mode(attributes_.mode & kModeBits, has_list);
}

// Owner, lists, `user` attributes and mode of the file that was there, as far as we may. Rights
// that cannot be kept are taken away. False: it failed.
bool FileRun::keep_rights() noexcept {
  struct statx made{};
  const long asked = stat_of(fd_, made, services_.tap());
  if (asked < 0) return fail(asked, "statx");
  std::uint32_t mode = seen_.stx_mode & kModeBits;
  bool group_kept = made.stx_gid == seen_.stx_gid;
  const bool moves = made.stx_uid != seen_.stx_uid || !group_kept;
  if (moves) {
    const auto give = [this](unsigned user) {
      return other("fchown", fd_, [&] { return ::fchown(fd_, user, seen_.stx_gid); }) >= 0;
    };
    // What runs as its owner does so for that owner only; and chown takes that away.
    const bool given = give(seen_.stx_uid);
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
  return set >= 0 || fail(set, "fchmod");
}

bool FileRun::keep_attributes(bool& group_kept, bool& has_list, std::uint32_t& mode) noexcept {
  buffer_.clear();
  if (!attempt([&] { buffer_.resize(2 * kAttributeMost); })) {
    return fail(-ENOMEM, "");
  }
  char* const keys = reinterpret_cast<char*>(buffer_.data());
  const std::span value = std::span(buffer_).subspan(kAttributeMost);
  const long listed = list_attributes(keys, kAttributeMost);
  if (listed == -ENOSYS) {  // nobody can say
    group_kept = false;
    return true;
  }
  if (listed < 0) return fail(listed, "llistxattr");
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
    if (got < 0) return fail(got, "lgetxattr");
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
    if (result < 0) return fail(result, "fsetxattr");
    has_list = has_list || is_list;
  }
  return true;
}

// What the directory gives to new files, and the old one did not have.
bool FileRun::drop_inherited_list(std::uint32_t mode) noexcept {
  const long own =
      other("fgetxattr", fd_, [&] { return ::fgetxattr(fd_, kAccessList, nullptr, 0); });
  if (own < 0) return own == -ENODATA || own == -EOPNOTSUPP || fail(own, "fgetxattr");
  const auto plain = plain_list(mode);
  const long set = other("fsetxattr", fd_, [&] {
    return ::fsetxattr(fd_, kAccessList, plain.data(), plain.size(), 0);
  });
  return set >= 0 || fail(set, "fsetxattr");
}

// From one file to another: shared blocks where the file system can, else by the kernel, else by
// hand. Holes stay holes.
FileRun::Steps FileRun::copy_contents() noexcept {
  const std::uint64_t size = attributes_.bytes;
  const std::uint64_t begin = request_.offset;
  std::uint64_t at = begin;
  total_ = std::min(size > begin ? size - begin : 0, request_.length);
  std::uint64_t end = begin + total_;
  bool by_hand = false;
  if (size == 0) {  // as what the kernel makes up says
    by_hand = true;
    end = begin + std::min(request_.length, FileRequest::to_the_end - begin);
  }
  bool has_holes = attributes_.allocated_bytes < size;
  file_offset_ = begin;
  if (size != 0 && total_ == size) {
    call_ = {.kind = FileCallKind::clone, .descriptor = source_, .to_descriptor = fd_};
    if (co_await made() >= 0) {
      FileResultAccess::bytes(result_) = total_;
      told(total_);
      co_return true;
    }  // what is wrong with the device copying will say
  }
  for (std::uint64_t data_end = 0; at < end;) {
    if (at >= data_end) data_end = find_data(at, end, has_holes);
    if (at >= data_end) break;
    std::uint64_t bytes = std::min(kPiece, data_end - at);
    (void)co_await pause(Wants::share, bytes);
    const int error = may_move();
    if (error != 0) co_return fail(-error, "");
    if (!by_hand) {
      call_ = {.kind = FileCallKind::copy_range,
               .descriptor = source_,
               .to_descriptor = fd_,
               .offset = at,
               .to_offset = at - begin,
               .bytes = bytes};
      (void)co_await made();
      // Nothing is no proof of the end: a read shows it.
      by_hand = said_ == 0 || means_not_here(said_);
      if (!by_hand && said_ < 0) co_return call_failed();
      if (!by_hand) bytes = static_cast<std::uint64_t>(said_);
    }
    if (by_hand) {
      if (buffer_.empty() && !attempt([&] { buffer_.resize(kPiece); })) {
        co_return fail(-ENOMEM, "");
      }
      names_target_ = false;
      (void)co_await by_buffer(FileCallKind::read, source_, at, 0, bytes);
      if (said_ < 0) co_return call_failed();
      names_target_ = true;
      if (said_ == 0) {  // it has shrunk
        end = at;
        break;
      }
      bytes = static_cast<std::uint64_t>(said_);
      for (std::uint64_t done = 0; done < bytes; done += static_cast<std::uint64_t>(said_)) {
        (void)co_await by_buffer(FileCallKind::write, fd_, at - begin + done, done, bytes - done);
        if (said_ == 0) said_ = -EIO;
        if (said_ < 0) co_return call_failed();
      }
    }
    at += bytes;
    FileResultAccess::bytes(result_) += bytes;
    told(bytes);
  }
  if (!has_holes || end == FileRequest::to_the_end) co_return true;
  // A hole at the end is part of the file.
  FileResultAccess::bytes(result_) = end - begin;
  (void)co_await truncate(end - begin);
  co_return said_ >= 0 || call_failed();
}

// A read into buffer_, or a write from it.
FileRun::Pause FileRun::by_buffer(FileCallKind kind, int descriptor, std::uint64_t offset,
                                  std::size_t at, std::size_t bytes) noexcept {
  pieces_[0] = {&buffer_[at], bytes};
  return make({.kind = kind,
               .descriptor = descriptor,
               .offset = offset,
               .bytes = bytes,
               .pieces = pieces_.data(),
               .piece_count = 1});
}

// The next part that is no hole: moves `at` to its beginning, and returns its end. That is `at` if
// there is none.
std::uint64_t FileRun::find_data(std::uint64_t& at, std::uint64_t end, bool& has_holes) noexcept {
  if (!has_holes) return end;
  const auto seek = [&](std::uint64_t& offset, int whence) {
    return other("lseek", source_, [&]() -> long { return seek_in(source_, offset, whence); });
  };
  std::uint64_t data = at;
  const long sought = seek(data, SEEK_DATA);
  if (sought == -ENXIO) return at;
  if (sought < 0) {
    has_holes = false;  // it cannot say where they are
    return end;
  }
  at = std::max(at, data);
  if (at >= end) return at;
  std::uint64_t hole = at;
  const auto data_end = seek(hole, SEEK_HOLE) >= 0 ? std::min(end, hole) : end;
  return data_end > at ? data_end : end;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
