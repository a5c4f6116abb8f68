// SPDX-License-Identifier: MIT
//
// From one file to another: shared blocks where the file system can, else by the kernel, else by
// hand. The new file gets its name as in run_replace.cpp; holes stay holes.
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <handoff/core/detail/attempt.hpp>

#include "file_run.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// What says that the kernel does not copy between these two, not that copying failed.
bool says_by_hand(long result) noexcept {
  switch (-result) {
    case EXDEV:
    case EOPNOTSUPP:
    case EINVAL:
    case ENOSYS:
    case EPERM:
    case EBADF:
    case ETXTBSY: return true;
    default: return false;
  }
}

}  // namespace

void FileRun::begin_copy() noexcept {
  source_ = fd_;
  owns_source_ = owns_fd_;
  fd_ = -1;
  owns_fd_ = false;
  names_target_ = true;
  open_directory(request_.to, &FileRun::replace_in_directory);
}

void FileRun::temporary_is_ready_for_copy() noexcept {
  const std::uint64_t size = attributes_.stx_size;
  const std::uint64_t begin = request_.offset;
  const bool knows_its_size = size != 0;  // what the kernel makes up says 0
  const std::uint64_t there = size > begin ? size - begin : 0;
  copy_at_ = begin;
  total_ = std::min(there, request_.length);
  copy_end_ = begin + total_;
  if (!knows_its_size) {
    copy_end_ = request_.length > FileRequest::to_the_end - begin ? FileRequest::to_the_end
                                                                  : begin + request_.length;
    by_hand_ = true;
  }
  has_holes_ = attributes_.stx_blocks * 512 < size;
  file_offset_ = begin;
  if (!knows_its_size || total_ != size) return copy_on(0);
  call({.kind = FileCallKind::clone, .descriptor = source_, .to_descriptor = fd_},
       &FileRun::cloned);
}

void FileRun::cloned(long result) noexcept {
  if (result < 0) return copy_on(0);  // what is wrong with the device copying will say
  FileResultAccess::bytes(result_) = total_;
  told(total_);
  contents_are_whole();
}

void FileRun::copy_on(long /*result*/) noexcept {
  if (copy_at_ >= copy_end_) return copy_is_over();
  const int error = stopped();
  if (error != 0) return fail(-error, "");
  if (copy_at_ >= segment_end_ && !find_data()) return copy_is_over();
  spend(std::min(kPiece, segment_end_ - copy_at_), &FileRun::copy_piece);
}

// The next part that is no hole; false: there is none.
bool FileRun::find_data() noexcept {
  segment_end_ = copy_end_;
  if (!has_holes_) return true;
  const auto seek = [this](int whence) {
    return other("lseek", source_,
                 [&] { return ::lseek(source_, static_cast<off_t>(copy_at_), whence); });
  };
  const long data = seek(SEEK_DATA);
  if (data == -ENXIO) return false;
  if (data < 0) {
    has_holes_ = false;  // it cannot say where they are
    return true;
  }
  copy_at_ = std::max(copy_at_, static_cast<std::uint64_t>(data));
  if (copy_at_ >= copy_end_) return false;
  const long hole = seek(SEEK_HOLE);
  if (hole > 0) segment_end_ = std::min(copy_end_, static_cast<std::uint64_t>(hole));
  return segment_end_ > copy_at_ || (segment_end_ = copy_end_) > copy_at_;
}

void FileRun::copy_piece(long /*result*/) noexcept {
  if (by_hand_) return copy_by_hand();
  call({.kind = FileCallKind::copy_range,
        .descriptor = source_,
        .to_descriptor = fd_,
        .offset = copy_at_,
        .to_offset = copy_at_ - request_.offset,
        .bytes = std::min(kPiece, segment_end_ - copy_at_)},
       &FileRun::range_copied);
}

void FileRun::range_copied(long result) noexcept {
  // Nothing is no proof of the end: a read shows it.
  if (result == 0 || says_by_hand(result)) {
    by_hand_ = true;
    return copy_by_hand();
  }
  if (result < 0) return fail(result, "copy_file_range");
  copied(static_cast<std::uint64_t>(result));
}

void FileRun::copy_by_hand() noexcept {
  if (buffer_.empty() && !attempt([&] { buffer_.resize(kPiece); })) {
    return fail(-ENOMEM, "");
  }
  pieces_[0] = {buffer_.data(), std::min<std::size_t>(buffer_.size(), segment_end_ - copy_at_)};
  call({.kind = FileCallKind::read,
        .descriptor = source_,
        .offset = copy_at_,
        .bytes = pieces_[0].iov_len,
        .pieces = pieces_.data(),
        .piece_count = 1},
       &FileRun::piece_was_read);
}

void FileRun::piece_was_read(long result) noexcept {
  if (result < 0) {
    names_target_ = false;
    return fail(result, "preadv");
  }
  if (result == 0) {  // it has shrunk
    copy_end_ = copy_at_;
    return copy_is_over();
  }
  buffered_ = static_cast<std::uint64_t>(result);
  buffer_begin_ = 0;
  write_copied_piece();
}

void FileRun::write_copied_piece() noexcept {
  pieces_[0] = {buffer_.data() + buffer_begin_, buffered_ - buffer_begin_};
  call({.kind = FileCallKind::write,
        .descriptor = fd_,
        .offset = copy_at_ - request_.offset + buffer_begin_,
        .bytes = pieces_[0].iov_len,
        .pieces = pieces_.data(),
        .piece_count = 1},
       &FileRun::piece_was_written);
}

void FileRun::piece_was_written(long result) noexcept {
  if (result <= 0) return fail(result == 0 ? -EIO : result, "pwritev");
  buffer_begin_ += static_cast<std::uint64_t>(result);
  if (buffer_begin_ < buffered_) return write_copied_piece();
  copied(buffered_);
}

void FileRun::copied(std::uint64_t bytes) noexcept {
  copy_at_ += bytes;
  FileResultAccess::bytes(result_) += bytes;
  told(bytes);
  stage(&FileRun::copy_on);
}

// A hole at the end is part of the file.
void FileRun::copy_is_over() noexcept {
  if (!has_holes_ || copy_end_ == FileRequest::to_the_end) return contents_are_whole();
  FileResultAccess::bytes(result_) = copy_end_ - request_.offset;
  call({.kind = FileCallKind::truncate, .descriptor = fd_, .offset = copy_end_ - request_.offset},
       &FileRun::length_is_set);
}

void FileRun::length_is_set(long result) noexcept {
  if (result < 0) return fail(result, "ftruncate");
  contents_are_whole();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
