// SPDX-License-Identifier: MIT
#include "append_log_file.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <handoff/core/detail/attempt.hpp>
#include <utility>

#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr const char* kInTheMaking = "new";  // a segment that has no name yet
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr std::size_t kZerosAhead = std::size_t{128} << 10;
constexpr std::size_t kSmallBatch = kZerosAhead / 4;  // of larger ones the bytes take the time
constexpr std::array<std::byte, std::size_t{16} << 10> kZeros{};

std::string parent_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

AppendLogFile::AppendLogFile(std::string directory, const AppendLogOptions& options)
    : directory_(std::move(directory)), options_(options), tap_(options.tap) {}

AppendLogFile::~AppendLogFile() {
  close_file(segment_);
  close_file(lock_file_);  // after the segment: the next writer finds it closed
  close_file(directory_file_);
}

std::uint64_t AppendLogFile::first() const noexcept {
  const sync::Lock lock(segments_mutex_);
  return segments_.empty() ? 1 : segments_.front();
}

FileFailure AppendLogFile::failure(int error, FileOperation operation, const char* call,
                                   const char* name, std::uint64_t offset) const noexcept {
  FileFailure said{.error = error, .operation = operation, .call = call, .offset = offset};
  // Without memory for it the name is missing.
  (void)attempt([&] { said.file = name == nullptr ? directory_ : directory_ + "/" + name; },
                []() noexcept {});
  return said;
}

void AppendLogFile::close_file(int& descriptor) noexcept {
  if (descriptor < 0) return;
  (void)perform({.kind = FileCallKind::close, .descriptor = std::exchange(descriptor, -1)}, tap_);
}

int AppendLogFile::fsync(FileCallKind kind, int descriptor) noexcept {
  return static_cast<int>(-uninterrupted(
      [&]() noexcept { return perform({.kind = kind, .descriptor = descriptor}, tap_); }));
}

int AppendLogFile::truncate(std::uint64_t bytes) noexcept {
  return static_cast<int>(-uninterrupted([&]() noexcept {
    return perform({.kind = FileCallKind::truncate, .descriptor = segment_, .offset = bytes}, tap_);
  }));
}

FileFailure AppendLogFile::sync_directory() noexcept {
  const int error = fsync(FileCallKind::fsync, directory_file_);
  if (error == 0) return {};
  return failure(error, FileOperation::sync, "fsync", nullptr, 0);
}

// Opening.

FileFailure AppendLogFile::open() {
  if (FileFailure failed = open_directory(); failed.error != 0) return failed;
  if (FileFailure failed = lock(); failed.error != 0) return failed;
  if (const int error = list_segments(directory_file_, segments_, tap_); error != 0) {
    return failure(error, FileOperation::read, "getdents64", nullptr, 0);
  }
  // What an earlier writer did not finish.
  (void)perform({.kind = FileCallKind::unlink, .descriptor = directory_file_, .path = kInTheMaking},
                tap_);
  if (!segments_.empty()) return recover(segments_.back());
  return begin_log(1);
}

FileFailure AppendLogFile::begin_log(std::uint64_t first) {
  const long random = uninterrupted([&]() noexcept {
    return perform_other("getrandom", -1, nullptr, tap_, [&]() noexcept -> long {
      const auto got = ::getrandom(&log_, sizeof log_, 0);
      return got < 0 ? -errno : static_cast<long>(got);
    });
  });
  if (random < 0) {
    return failure(static_cast<int>(-random), FileOperation::read, "getrandom", nullptr, 0);
  }
  return begin_segment(first);
}

FileFailure AppendLogFile::open_directory() {
  const long made = perform(
      {.kind = FileCallKind::make_directory, .path = directory_.c_str(), .mode = 0777}, tap_);
  if (made < 0 && made != -EEXIST) {
    return failure(static_cast<int>(-made), FileOperation::write, "mkdir", nullptr, 0);
  }
  const auto open_it = [&](const char* path) noexcept {
    return uninterrupted([&]() noexcept {
      return perform(
          {.kind = FileCallKind::open, .path = path, .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC},
          tap_);
    });
  };
  long opened = open_it(directory_.c_str());
  if (opened < 0) {
    return failure(static_cast<int>(-opened), FileOperation::read, "open", nullptr, 0);
  }
  directory_file_ = static_cast<int>(opened);
  // The name of the directory too, also if another process made it just before it lost its power.
  const std::string parent = parent_of(directory_);
  opened = open_it(parent.c_str());
  if (opened < 0) {
    return failure(static_cast<int>(-opened), FileOperation::read, "open", "..", 0);
  }
  int parent_file = static_cast<int>(opened);
  const int error = fsync(FileCallKind::fsync, parent_file);
  close_file(parent_file);
  if (error != 0) return failure(error, FileOperation::sync, "fsync", "..", 0);
  return {};
}

// A lock of the open file: another AppendLog of this process does not get it either, and it ends
// with the process, however that ends.
FileFailure AppendLogFile::lock() {
  const long opened = uninterrupted([&]() noexcept {
    return perform({.kind = FileCallKind::open,
                    .descriptor = directory_file_,
                    .path = "lock",
                    .flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                    .mode = options_.mode},
                   tap_);
  });
  if (opened < 0) {
    return failure(static_cast<int>(-opened), FileOperation::write, "open", "lock", 0);
  }
  lock_file_ = static_cast<int>(opened);
  const long locked = perform_other("fcntl", lock_file_, nullptr, tap_, [&]() noexcept -> long {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(lock_file_, F_OFD_SETLK, &whole) < 0 ? -errno : 0;
  });
  if (locked == 0) return {};
  const bool taken = locked == -EAGAIN || locked == -EACCES;
  return failure(taken ? EWOULDBLOCK : static_cast<int>(-locked), FileOperation::write, "fcntl",
                 taken ? "lock (another writer has this log)" : "lock", 0);
}

int AppendLogFile::open_segment(const char* name, int flags) noexcept {
  const long opened = uninterrupted([&]() noexcept {
    return perform({.kind = FileCallKind::open,
                    .descriptor = directory_file_,
                    .path = name,
                    .flags = flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW,
                    .mode = options_.mode},
                   tap_);
  });
  if (opened < 0) return static_cast<int>(-opened);
  close_file(segment_);
  segment_ = static_cast<int>(opened);
  return 0;
}

// Cuts what is torn off the newest segment, makes the rest durable, and is ready to go on behind
// it.
FileFailure AppendLogFile::recover(std::uint64_t first) {
  name_ = segment_name(first);
  if (const int error = open_segment(name_.data(), 0); error != 0) {
    return failure(error, FileOperation::read, "open", name_.data(), 0);
  }
  AppendLogScan scan(tap_);
  switch (scan.begin(segment_, first)) {
    case AppendLogScan::Header::whole: break;
    case AppendLogScan::Header::damaged:
      return failure(EBADMSG, FileOperation::read, "header", name_.data(), 0);
    case AppendLogScan::Header::failed:
      return failure(scan.error(), FileOperation::read, scan.call(), name_.data(), 0);
  }
  std::uint64_t proven = 0;
  if (FileFailure failed = read_segment(scan, name_.data(), proven); failed.error != 0) {
    return failed;
  }
  log_ = scan.log();
  offset_ = scan.offset();
  next_sequence_ = scan.next_sequence();
  if (const int error = truncate(offset_); error != 0) {
    return failure(error, FileOperation::write, "ftruncate", name_.data(), offset_);
  }
  if (FileFailure failed = write_again(name_.data(), proven, offset_); failed.error != 0) {
    return failed;
  }
  if (const int error = fsync(FileCallKind::fsync, segment_); error != 0) {
    return failure(error, FileOperation::sync, "fsync", name_.data(), 0);
  }
  if (FileFailure failed = sync_directory(); failed.error != 0) return failed;
  preallocate();
  zeroed_ = offset_;
  return {};
}

// Up to its end. What stands before `proven` is known to be durable.
FileFailure AppendLogFile::read_segment(AppendLogScan& scan, const char* name,
                                        std::uint64_t& proven) {
  std::vector<Unproven> heads;
  std::size_t oldest = 0;  // of those that are not proven
  for (;;) {
    const std::uint64_t at = scan.offset();
    const AppendLogScan::Found found = scan.next();
    if (found == AppendLogScan::Found::failed) {
      return failure(scan.error(), FileOperation::read, scan.call(), name, at);
    }
    if (found == AppendLogScan::Found::end) break;
    finished_ = found == AppendLogScan::Found::head && scan.head().mark == BatchHead::kMark;
    if (found != AppendLogScan::Found::head) continue;
    heads.push_back({at, scan.head().first});
    const std::uint64_t durable = scan.head().durable;
    while (oldest + 1 < heads.size() && heads[oldest + 1].first <= durable + 1) ++oldest;
  }
  const std::uint64_t end = scan.offset();
  if (scan.proves_damage()) return failure(EBADMSG, FileOperation::read, "checksum", name, end);
  if (scan.error() != 0) {
    return failure(scan.error(), FileOperation::read, scan.call(), name, end);
  }
  proven = heads.empty() ? end : heads[oldest].offset;
  return {};
}

// A sync that failed may have left what is not on the device in the page cache, as if it were. It
// is written once more, so that the next sync says the truth.
FileFailure AppendLogFile::write_again(const char* name, std::uint64_t from, std::uint64_t to) {
  std::vector<std::byte> piece;
  while (from < to) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(to - from, kPieceBytes)));
    const long got = read_fully(segment_, from, piece, tap_);
    if (got < 0) {
      return failure(static_cast<int>(-got), FileOperation::read, "preadv", name, from);
    }
    const auto whole = std::span(piece).first(static_cast<std::size_t>(got));
    if (whole.empty()) return failure(EIO, FileOperation::read, "preadv", name, from);
    if (const int error = write_fully(segment_, from, whole, tap_); error != 0) {
      return failure(error, FileOperation::write, "pwritev", name, from);
    }
    from += whole.size();
  }
  return {};
}

// Growing.

// It gets its name when its header is durable, and the name is durable before anything is in it. So
// a segment without a whole header is damage.
FileFailure AppendLogFile::begin_segment(std::uint64_t first) noexcept {
  const SegmentName name = segment_name(first);
  {
    const sync::Lock lock(segments_mutex_);
    const bool room = attempt([&] { segments_.reserve(segments_.size() + 1); }, []() noexcept {});
    if (!room) return failure(ENOMEM, FileOperation::append, "reserve", name.data(), 0);
  }
  if (const int error = open_segment(kInTheMaking, O_CREAT | O_TRUNC); error != 0) {
    return failure(error, FileOperation::append, "open", name.data(), 0);
  }
  name_ = name;
  offset_ = 0;
  preallocate();
  write_zeros(0);
  SegmentHeader header{.log = log_, .first = first};
  header.check = header.right_check();
  if (const int error = write_fully(segment_, 0, raw_bytes(header), tap_); error != 0) {
    return failure(error, FileOperation::append, "pwritev", name.data(), 0);
  }
  if (const int error = fsync(FileCallKind::fsync, segment_); error != 0) {
    return failure(error, FileOperation::sync, "fsync", name.data(), 0);
  }
  const long renamed = uninterrupted([&]() noexcept {
    return perform({.kind = FileCallKind::rename,
                    .descriptor = directory_file_,
                    .to_descriptor = directory_file_,
                    .path = kInTheMaking,
                    .to_path = name.data()},
                   tap_);
  });
  if (renamed < 0) {
    return failure(static_cast<int>(-renamed), FileOperation::append, "rename", name.data(), 0);
  }
  if (FileFailure failed = sync_directory(); failed.error != 0) return failed;
  offset_ = sizeof header;
  next_sequence_ = first;
  finished_ = false;
  ++begun_;
  const sync::Lock lock(segments_mutex_);
  segments_.push_back(first);
  return {};
}

// So that a sync need not write down where the file's bytes are and how many. It can do without:
// a device that has no room for a segment may have room for some records.
void AppendLogFile::preallocate() noexcept {
  preallocated_ = false;
  if (!options_.preallocate || offset_ >= options_.segment_bytes) return;
  preallocated_ = perform({.kind = FileCallKind::preallocate,
                           .descriptor = segment_,
                           .offset = offset_,
                           .bytes = options_.segment_bytes - offset_},
                          tap_) == 0;
}

// Room that was never written costs a sync more than the bytes: that it is written now has to be
// written down. Zeros are there already, as far as a reader sees. A failure costs no more than
// time.
void AppendLogFile::write_zeros(std::uint64_t from) noexcept {
  if (!preallocated_ || from >= options_.segment_bytes) return;
  const std::uint64_t all = std::min<std::uint64_t>(kZerosAhead, options_.segment_bytes - from);
  std::array<iovec, kZerosAhead / kZeros.size()> pieces;
  std::size_t count = 0;
  for (std::uint64_t left = all; left > 0; left -= pieces[count++].iov_len) {
    pieces[count] = {const_cast<std::byte*>(kZeros.data()),
                     static_cast<std::size_t>(std::min<std::uint64_t>(left, kZeros.size()))};
  }
  const long wrote = perform({.kind = FileCallKind::write,
                              .descriptor = segment_,
                              .offset = from,
                              .bytes = all,
                              .pieces = pieces.data(),
                              .piece_count = count},
                             tap_);
  if (wrote <= 0) preallocated_ = false;  // not again
  zeroed_ = from + static_cast<std::uint64_t>(std::max(wrote, 0L));
}

FileFailure AppendLogFile::write(std::span<std::byte> batch, std::uint64_t count,
                                 std::uint64_t durable) noexcept {
  if (offset_ + batch.size() > options_.segment_bytes && offset_ > sizeof(SegmentHeader)) {
    if (FileFailure failed = sync(); failed.error != 0) return failed;
    durable = next_sequence_ - 1;
    if (FileFailure failed = begin_segment(next_sequence_); failed.error != 0) return failed;
  }
  BatchHead head{.mark = BatchHead::kMark | count, .first = next_sequence_, .durable = durable};
  head.check = head.right_check(log_, offset_);
  std::memcpy(batch.data(), &head, sizeof head);
  unsynced_ = true;
  finished_ = false;
  const std::uint64_t end = offset_ + batch.size();
  if (end > zeroed_ && batch.size() <= kSmallBatch) write_zeros(end);
  if (const int error = write_fully(segment_, offset_, batch, tap_); error != 0) {
    return failure(error, FileOperation::append, "pwritev", name_.data(), offset_);
  }
  offset_ += batch.size();
  next_sequence_ += count;
  return {};
}

FileFailure AppendLogFile::sync() noexcept {
  if (!unsynced_) return {};
  const int error = fsync(FileCallKind::fdatasync, segment_);
  if (error != 0) return failure(error, FileOperation::sync, "fdatasync", name_.data(), offset_);
  unsynced_ = false;
  return {};
}

void AppendLogFile::finish() noexcept {
  if (!finished_ && next_sequence_ > 1) {
    BatchHead head{
        .mark = BatchHead::kMark, .first = next_sequence_, .durable = next_sequence_ - 1};
    head.check = head.right_check(log_, offset_);
    if (write_fully(segment_, offset_, raw_bytes(head), tap_) == 0) offset_ += sizeof head;
  }
  (void)truncate(offset_);
}

// Oldest first, and each is durable before the next one begins: what a loss of power leaves has no
// gap.
FileResult AppendLogFile::trim(std::uint64_t sequence) {
  for (std::uint64_t removed = 0;; ++removed) {
    std::uint64_t oldest = 0;
    {
      const sync::Lock lock(segments_mutex_);
      if (segments_.size() < 2 || segments_[1] > sequence) return FileResult(removed);
      oldest = segments_.front();
    }
    const SegmentName name = segment_name(oldest);
    const long gone = perform(
        {.kind = FileCallKind::unlink, .descriptor = directory_file_, .path = name.data()}, tap_);
    // Where a sync failed it may be gone already.
    if (gone < 0 && gone != -ENOENT) {
      return {failure(static_cast<int>(-gone), FileOperation::remove, "unlink", name.data(), 0),
              removed};
    }
    if (FileFailure failed = sync_directory(); failed.error != 0) {
      return {std::move(failed), removed};
    }
    const sync::Lock lock(segments_mutex_);
    segments_.erase(segments_.begin());
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
