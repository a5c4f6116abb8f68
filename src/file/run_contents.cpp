// SPDX-License-Identifier: MIT
//
// Runs that read, write, append, sync, ask and remove.
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <handoff/core/detail/attempt.hpp>

#include "file_run.hpp"
#include "open_file_state.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Behind a file that grows while it is read.
constexpr std::uint64_t kGrowth = std::uint64_t{1} << 20;

FileAttributes told_of(const struct statx& from) noexcept {
  return {.bytes = from.stx_size,
          .allocated_bytes = from.stx_blocks * 512,
          .mode = from.stx_mode,
          .inode = from.stx_ino,
          .device = device_of(from),
          .modified_ns = from.stx_mtime.tv_sec * 1'000'000'000LL + from.stx_mtime.tv_nsec};
}

}  // namespace

// Whatever works on one file that is there or made.
void FileRun::begin_file(long /*result*/) noexcept {
  if (request_.file.valid()) {
    adopt_open_file();
    const int lost = lost_before();
    if (lost != 0) return fail(-lost, "fsync");
    // Its attributes, where they are needed.
    const bool asks = request_.operation != FileOperation::sync &&
                      (request_.operation != FileOperation::write || request_.truncate) &&
                      (request_.operation != FileOperation::read || owns_its_data());
    if (asks) return ask_attributes(&FileRun::file_is_known);
    return file_is_ready(0);
  }
  int flags = O_RDONLY;
  if (request_.operation == FileOperation::write || request_.operation == FileOperation::append) {
    flags = O_WRONLY | (request_.create ? O_CREAT : 0);
  }
  open_file(request_.path, flags, &FileRun::file_is_ready);
}

bool FileRun::owns_its_data() const noexcept { return request_.into.pieces().empty(); }

// After an fsync that failed, what was written to the file counts as lost.
int FileRun::lost_before() const noexcept {
  const bool asks_for_durable = request_.durable || request_.operation == FileOperation::sync;
  if (!asks_for_durable || !request_.file.valid()) return 0;
  return lost_after(*OpenFileAccess::state(request_.file), 0);
}

void FileRun::file_is_known(long result) noexcept {
  if (result < 0) return fail(result, "statx");
  file_is_ready(0);
}

void FileRun::file_is_ready(long /*result*/) noexcept {
  switch (request_.operation) {
    case FileOperation::read: return begin_read();
    case FileOperation::write:
    case FileOperation::append: return begin_write();
    case FileOperation::sync: return sync_file();
    case FileOperation::copy: return begin_copy();
    case FileOperation::stat: return asked(0);
    case FileOperation::replace:
    case FileOperation::remove: break;
  }
}

void FileRun::begin_read() noexcept {
  file_offset_ = request_.offset;
  writes_ = false;
  owns_memory_ = owns_its_data();
  if (!owns_memory_) {
    total_ = request_.into.bytes();
    return transfer(&FileRun::read_is_over);
  }
  const std::uint64_t size = attributes_.stx_size;
  const std::uint64_t there = size > file_offset_ ? size - file_offset_ : 0;
  if (there > request_.limit) return fail(-EFBIG, "", "longer than FileRequest::limit");
  total_ = std::min(there, request_.length);
  // One byte more shows whether the file has grown.
  if (total_ < request_.length) ++total_;
  reserve(total_, &FileRun::room_for_read);
}

void FileRun::room_for_read(long /*result*/) noexcept {
  std::vector<std::byte>& data = FileResultAccess::data(result_);
  const bool had = attempt([&] { data.resize(total_); });
  if (!had) return fail(-ENOMEM, "");
  own_memory_ = data;
  transfer(&FileRun::read_is_over);
}

void FileRun::read_is_over(long /*result*/) noexcept {
  if (!owns_memory_) return stage(&FileRun::clean);
  std::vector<std::byte>& data = FileResultAccess::data(result_);
  const std::uint64_t bytes = grown_from_ + moved();
  FileResultAccess::bytes(result_) = bytes;
  if (bytes > request_.limit) return fail(-EFBIG, "", "longer than FileRequest::limit");
  if (saw_end_ || bytes == request_.length) {
    data.resize(bytes);
    return stage(&FileRun::clean);
  }
  // It has grown: on behind what is there.
  grown_from_ = bytes;
  const std::uint64_t more = std::min(std::max(kGrowth, bytes / 2), request_.length - bytes);
  if (!attempt([&] { data.resize(bytes + more); })) return fail(-ENOMEM, "");
  own_memory_ = std::span(data).subspan(bytes);
  file_offset_ = request_.offset + bytes;
  attributes_.stx_size = 0;  // no longer known
  total_ = more;
  transfer(&FileRun::read_is_over);
}

void FileRun::begin_write() noexcept {
  const bool appends = request_.operation == FileOperation::append;
  file_offset_ = appends ? attributes_.stx_size : request_.offset;
  FileResultAccess::offset(result_) = file_offset_;
  total_ = request_.from.bytes();
  writes_ = true;
  wrote_ = true;
  const bool cuts = request_.truncate && !appends && attributes_.stx_size > file_offset_;
  if (!cuts) return truncated(0);
  call({.kind = FileCallKind::truncate, .descriptor = fd_, .offset = file_offset_},
       &FileRun::truncated);
}

void FileRun::truncated(long result) noexcept {
  if (result < 0) return fail(result, "ftruncate");
  if (!request_.preallocate || total_ == 0) return transfer(&FileRun::write_is_over);
  // The length grows at once where the file will end there: pieces of direct IO may then land in
  // any order without changing it.
  preallocated_ = request_.truncate;
  call({.kind = FileCallKind::preallocate,
        .descriptor = fd_,
        .flags = preallocated_ ? 0 : FALLOC_FL_KEEP_SIZE,
        .offset = file_offset_,
        .bytes = total_},
       &FileRun::preallocated);
}

void FileRun::preallocated(long result) noexcept {
  if (result == -EOPNOTSUPP || result == -ENOSYS) {
    preallocated_ = false;
    result = 0;
  }
  if (result < 0) return fail(result, "fallocate");
  if (has_temporary_) return transfer(&FileRun::contents_are_written);
  transfer(&FileRun::write_is_over);
}

// A file that failed ends behind what was written, also if room was reserved.
void FileRun::cut_to_moved(long /*result*/) noexcept {
  call({.kind = FileCallKind::truncate,
        .descriptor = fd_,
        .offset = file_offset_ + FileResultAccess::bytes(result_)},
       &FileRun::cut);
}
void FileRun::cut(long result) noexcept {
  if (result < 0) return fail(result, "ftruncate");
  stage(&FileRun::clean);
}

void FileRun::write_is_over(long /*result*/) noexcept {
  if (request_.durable) return sync_file();
  stage(&FileRun::clean);
}

void FileRun::sync_file() noexcept {
  if (request_.file.valid()) {
    const OpenFileState& file = *OpenFileAccess::state(request_.file);
    return sync(fd_, file.device, file.inode, &FileRun::synced);
  }
  sync(fd_, device_of(attributes_), attributes_.stx_ino, &FileRun::synced);
}

void FileRun::synced(long result) noexcept {
  if (result < 0) {
    if (request_.file.valid()) {
      (void)lost_after(*OpenFileAccess::state(request_.file), static_cast<int>(-result));
    }
    return fail(result, "fsync");
  }
  // What was written before, under a name that may be new, is to be found again.
  const bool asked_by_name = request_.operation == FileOperation::sync && !request_.file.valid() &&
                             S_ISREG(attributes_.stx_mode);
  if (!name_is_new_ && !asked_by_name) return stage(&FileRun::clean);
  open_directory(request_.path, &FileRun::directory_of_new_name);
}

void FileRun::directory_of_new_name(long /*result*/) noexcept {
  sync_directory(&FileRun::directory_is_synced);
}

void FileRun::directory_is_synced(long result) noexcept {
  // EINVAL: this file system cannot sync a folder, so a name is as durable as it makes it.
  if (result < 0 && result != -EINVAL) return fail(result, "fsync");
  stage(&FileRun::clean);
}

void FileRun::remove() noexcept {
  if (request_.durable || services_.beneath() != AT_FDCWD) {
    return open_directory(request_.path, &FileRun::remove_in_directory);
  }
  call({.kind = FileCallKind::unlink, .path = request_.path.c_str()}, &FileRun::removed);
}

void FileRun::remove_in_directory(long /*result*/) noexcept {
  call({.kind = FileCallKind::unlink, .descriptor = directory_, .path = parts_.name.c_str()},
       &FileRun::removed);
}

void FileRun::removed(long result) noexcept {
  if (result < 0 && !(result == -ENOENT && request_.missing_is_ok)) {
    return fail(result, "unlinkat");
  }
  if (request_.durable) return sync_directory(&FileRun::directory_is_synced);
  stage(&FileRun::clean);
}

// Any kind of file may be asked about.
void FileRun::ask_by_name() noexcept {
  if (services_.beneath() != AT_FDCWD) {
    const int flags = O_PATH | (request_.follow_last ? 0 : O_NOFOLLOW);
    return call(open_call(request_.path, flags), &FileRun::opened_to_ask);
  }
  call({.kind = FileCallKind::stat,
        .path = request_.path.c_str(),
        .flags = request_.follow_last ? 0 : AT_SYMLINK_NOFOLLOW,
        .attributes = &attributes_},
       &FileRun::asked);
}

void FileRun::opened_to_ask(long result) noexcept {
  if (result == -ENOSYS && call_.resolve != 0) result = open_by_steps(call_, services_.tap());
  if (result < 0) return fail(result, view(call_).name);
  fd_ = static_cast<int>(result);
  owns_fd_ = true;
  ask_attributes(&FileRun::asked);
}

void FileRun::asked(long result) noexcept {
  if (result < 0) return fail(result, "statx");
  FileResultAccess::attributes(result_) = told_of(attributes_);
  stage(&FileRun::clean);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
