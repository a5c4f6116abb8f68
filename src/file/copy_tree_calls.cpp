// SPDX-License-Identifier: MIT
#include "copy_tree_calls.hpp"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "path.hpp"
#include "rights.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

FileId id_of(const struct statx& attributes) noexcept {
  return {(std::uint64_t{attributes.stx_dev_major} << 32) | attributes.stx_dev_minor,
          attributes.stx_ino};
}

template <class Function>
long CopyCalls::other(const char* call, FileRef file, const Function& function) const noexcept {
  return perform_other(call, file.file, file.name, tap_, function);
}

long CopyCalls::open(int in, const char* path, int flags, unsigned mode) const noexcept {
  return perform_whole(
      {.kind = FileCallKind::open, .descriptor = in, .path = path, .flags = flags, .mode = mode},
      tap_);
}

long CopyCalls::close(int file) const noexcept { return OwnFile(tap_, file).close(); }

long CopyCalls::stat(int in, const char* name, struct statx& attributes) const noexcept {
  return perform_whole({.kind = FileCallKind::stat,
                        .descriptor = in,
                        .path = name,
                        .flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                        .attributes = &attributes},
                       tap_);
}

long CopyCalls::read(int file, void* into, std::size_t bytes, std::uint64_t offset) const noexcept {
  const iovec piece{into, bytes};
  return perform_whole({.kind = FileCallKind::read,
                        .descriptor = file,
                        .offset = offset,
                        .bytes = bytes,
                        .pieces = &piece,
                        .piece_count = 1},
                       tap_);
}

long CopyCalls::write(int file, const void* from, std::size_t bytes, std::uint64_t offset,
                      std::size_t& written) const noexcept {
  written = 0;
  while (written < bytes) {
    const auto* const rest = static_cast<const std::byte*>(from) + written;
    const iovec piece{const_cast<std::byte*>(rest), bytes - written};
    const long result = perform_whole({.kind = FileCallKind::write,
                                       .descriptor = file,
                                       .offset = offset + written,
                                       .bytes = piece.iov_len,
                                       .pieces = &piece,
                                       .piece_count = 1},
                                      tap_);
    if (result < 0) return result;
    if (result == 0) return -EIO;  // it would go on for ever
    written += static_cast<std::size_t>(result);
  }
  return 0;
}

long CopyCalls::clone(int from, int to) const noexcept {
  return perform_whole({.kind = FileCallKind::clone, .descriptor = from, .to_descriptor = to},
                       tap_);
}

long CopyCalls::copy_range(int from, int to, std::uint64_t offset,
                           std::uint64_t bytes) const noexcept {
  return perform_whole({.kind = FileCallKind::copy_range,
                        .descriptor = from,
                        .to_descriptor = to,
                        .offset = offset,
                        .to_offset = offset,
                        .bytes = bytes},
                       tap_);
}

long CopyCalls::truncate(int file, std::uint64_t bytes) const noexcept {
  return perform_whole({.kind = FileCallKind::truncate, .descriptor = file, .offset = bytes}, tap_);
}

long CopyCalls::reserve(int file, std::uint64_t bytes) const noexcept {
  return perform_whole({.kind = FileCallKind::preallocate, .descriptor = file, .bytes = bytes},
                       tap_);
}

long CopyCalls::go_direct(int file, bool direct) const noexcept {
  return other("fcntl", {file}, [&]() -> long {
    const int flags = ::fcntl(file, F_GETFL);
    if (flags < 0) return flags;
    return ::fcntl(file, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
  });
}

long CopyCalls::seek(int file, std::uint64_t& offset, int whence) const noexcept {
  return other("lseek", {file}, [&]() -> long { return seek_in(file, offset, whence); });
}

long CopyCalls::write_back(int file, std::uint64_t offset, std::uint64_t bytes,
                           bool wait) const noexcept {
  const unsigned all =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  return other("sync_file_range", {file}, [&] {
    return ::sync_file_range(file, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                             wait ? all : SYNC_FILE_RANGE_WRITE);
  });
}

long CopyCalls::advise(int file, std::uint64_t offset, std::uint64_t bytes,
                       int advice) const noexcept {
  return other("posix_fadvise", {file}, [&]() -> long {
    errno = ::posix_fadvise(file, static_cast<off_t>(offset), static_cast<off_t>(bytes), advice);
    return errno == 0 ? 0 : -1;
  });
}

long CopyCalls::cached(int file, std::uint64_t offset, std::uint64_t bytes) const noexcept {
  constexpr long number = 451;  // of cachestat, everywhere; older headers do not know it
  const std::uint64_t range[2] = {offset, bytes};
  std::uint64_t pages[5] = {};  // in the cache, and of those: dirty, on their way, two of the past
  return other("cachestat", {file}, [&]() -> long {
    const long result = ::syscall(number, file, range, pages, 0u);
    return result < 0 ? result : static_cast<long>(pages[0]);
  });
}

long CopyCalls::sync_file_system(int file) const noexcept {
  return other("syncfs", {file}, [&] { return ::syncfs(file); });
}

long CopyCalls::make_directory(int in, const char* name, unsigned mode) const noexcept {
  return perform_whole(
      {.kind = FileCallKind::make_directory, .descriptor = in, .path = name, .mode = mode}, tap_);
}

long CopyCalls::rename(int in, const char* from, const char* to) const noexcept {
  return perform_whole({.kind = FileCallKind::rename,
                        .descriptor = in,
                        .to_descriptor = in,
                        .path = from,
                        .to_path = to},
                       tap_);
}

long CopyCalls::link(int from_in, const char* from, int to_in, const char* to) const noexcept {
  return perform_whole({.kind = FileCallKind::link,
                        .descriptor = from_in,
                        .to_descriptor = to_in,
                        .path = from,
                        .to_path = to},
                       tap_);
}

long CopyCalls::unlink(int in, const char* name) const noexcept {
  return perform_whole({.kind = FileCallKind::unlink, .descriptor = in, .path = name}, tap_);
}

long CopyCalls::remove_directory(int in, const char* name) const noexcept {
  return perform_whole(
      {.kind = FileCallKind::unlink, .descriptor = in, .path = name, .flags = AT_REMOVEDIR}, tap_);
}

long CopyCalls::read_link(int in, const char* name, char* into, std::size_t bytes) const noexcept {
  return other("readlinkat", {in, name}, [&] { return ::readlinkat(in, name, into, bytes); });
}

long CopyCalls::make_link(const char* target, int in, const char* name) const noexcept {
  return other("symlinkat", {in, name}, [&] { return ::symlinkat(target, in, name); });
}

long CopyCalls::make_node(int in, const char* name, unsigned mode, dev_t device) const noexcept {
  return other("mknodat", {in, name}, [&] { return ::mknodat(in, name, mode, device); });
}

long CopyCalls::entries(int directory, void* into, std::size_t bytes) const noexcept {
  return other("getdents64", {directory},
               [&] { return ::syscall(SYS_getdents64, directory, into, bytes); });
}

long CopyCalls::change_owner(FileRef file, unsigned user, unsigned group) const noexcept {
  if (file.name == nullptr) {
    return other("fchown", file, [&] { return ::fchown(file.file, user, group); });
  }
  return other("fchownat", file,
               [&] { return ::fchownat(file.file, file.name, user, group, AT_SYMLINK_NOFOLLOW); });
}

long CopyCalls::change_mode(FileRef file, unsigned mode) const noexcept {
  if (file.name == nullptr) {
    return other("fchmod", file, [&] { return ::fchmod(file.file, mode); });
  }
  return other("fchmodat", file, [&]() -> long {
    constexpr long number = 452;  // of fchmodat2, everywhere but on Alpha; since Linux 6.6
    const long result = ::syscall(number, file.file, file.name, mode, AT_SYMLINK_NOFOLLOW);
    if (result == 0 || (errno != ENOSYS && errno != EPERM)) return result;
    return ::fchmodat(file.file, file.name, mode, AT_SYMLINK_NOFOLLOW);  // by way of /proc
  });
}

long CopyCalls::change_times(FileRef file, const struct statx& as) const noexcept {
  const auto as_timespec = [](const statx_timestamp& time) -> timespec {
    return {static_cast<time_t>(time.tv_sec), static_cast<long>(time.tv_nsec)};
  };
  const timespec times[2] = {as_timespec(as.stx_atime), as_timespec(as.stx_mtime)};
  if (file.name == nullptr) {
    return other("futimens", file, [&] { return ::futimens(file.file, times); });
  }
  return other("utimensat", file,
               [&] { return ::utimensat(file.file, file.name, times, AT_SYMLINK_NOFOLLOW); });
}

long CopyCalls::list_attributes(FileRef file, char* into, std::size_t bytes) const noexcept {
  if (file.name == nullptr) {
    return other("flistxattr", file, [&] { return ::flistxattr(file.file, into, bytes); });
  }
  return other("llistxattr", file,
               [&] { return list_attributes_at(file.file, file.name, into, bytes); });
}

long CopyCalls::get_attribute(FileRef file, const char* key, void* into,
                              std::size_t bytes) const noexcept {
  if (file.name == nullptr) {
    return other("fgetxattr", file, [&] { return ::fgetxattr(file.file, key, into, bytes); });
  }
  return other("lgetxattr", file,
               [&] { return get_attribute_at(file.file, file.name, key, into, bytes); });
}

long CopyCalls::set_attribute(FileRef file, const char* key, const void* from,
                              std::size_t bytes) const noexcept {
  if (file.name == nullptr) {
    return other("fsetxattr", file, [&] { return ::fsetxattr(file.file, key, from, bytes, 0); });
  }
  return other("lsetxattr", file,
               [&] { return set_attribute_at(file.file, file.name, key, from, bytes); });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
