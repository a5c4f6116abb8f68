// SPDX-License-Identifier: MIT
#include "append_log_file.hpp"

#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <handoff/core/internal/attempt.hpp>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "file_call.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr const char* kInTheMaking = "new";  // a segment that has no name yet
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr std::size_t kZerosAhead = std::size_t{128} << 10;
constexpr std::size_t kSmallBatch = kZerosAhead / 4;  // of larger ones the bytes take the time
constexpr std::array<std::byte, std::size_t{16} << 10> kZeros{};
constexpr std::uint64_t kShareOfDevice =
    16;  // others live there too: room is a part of what is left

std::string parent_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

AppendLogFile::AppendLogFile(std::string directory, const AppendLogOptions& options)
    : directory_(std::move(directory)), options_(options), tap_(options.tap), owner_(::getpid()) {}

AppendLogFile::~AppendLogFile() {
  segment_.close();
  unlock();  // after the segment: the next writer finds it closed
}

std::uint64_t AppendLogFile::first() const noexcept {
  const sync::SeenLock lock(segments_mutex_);
  return segments_.empty() ? 1 : segments_.front();
}

FileFailure AppendLogFile::failure(int error, FileOperation operation, const char* call,
                                   const char* name, std::uint64_t offset) const noexcept {
  FileFailure said{
      .error = error, .operation = operation, .call = call, .owner = "AppendLog", .offset = offset};
  // Without memory for it the name is missing.
  (void)attempt([&] { said.file = name == nullptr ? directory_ : directory_ + "/" + name; });
  return said;
}

FileFailure AppendLogFile::failed_step(const char* step, int error, const char* call,
                                       const char* name) const noexcept {
  FileFailure said = failure(error, FileOperation::append, call, name, 0);
  said.step = step;
  return said;
}

int AppendLogFile::fsync(FileCallKind kind, int descriptor) noexcept {
  return static_cast<int>(-perform_whole({.kind = kind, .descriptor = descriptor}, tap_));
}

int AppendLogFile::truncate(std::uint64_t bytes) noexcept {
  return static_cast<int>(-perform_whole(
      {.kind = FileCallKind::truncate, .descriptor = segment_.get(), .offset = bytes}, tap_));
}

// Some file systems have no such call for a folder.
int AppendLogFile::fsync_directory(int descriptor) noexcept {
  const int error = fsync(FileCallKind::fsync, descriptor);
  return error == EINVAL ? 0 : error;
}

FileFailure AppendLogFile::sync_directory() noexcept {
  FileFailure said;
  if (const int error = fsync_directory(directory_file_.get()); error != 0) {
    said = failed_step("sync the folder", error, "fsync");
    said.operation = FileOperation::sync;
  }
  return said;
}

// Opening.

FileFailure AppendLogFile::open() {
  if (FileFailure failed = open_directory(); failed.error != 0) return failed;
  if (FileFailure failed = lock(); failed.error != 0) return failed;
  if (const int error = list_segments(directory_file_.get(), segments_, tap_); error != 0) {
    return failed_step("list the segments", error, "getdents64");
  }
  // What an earlier writer did not finish.
  (void)unlink(kInTheMaking);
  if (!segments_.empty()) return recover(segments_.back());
  return begin_log(1);
}

FileFailure AppendLogFile::begin_log(std::uint64_t first) {
  const long random = perform_other("getrandom", -1, nullptr, tap_,
                                    [&] { return ::getrandom(&log_, sizeof log_, 0); });
  if (random < 0) return failed_step("name the log", static_cast<int>(-random), "getrandom");
  return begin_segment(first);
}

FileFailure AppendLogFile::open_directory() {
  if (directory_.empty()) return failed_step(kNoFolder, ENOENT, "mkdir");
  if (has_zero_byte(directory_)) return failed_step(kZeroByte, EINVAL, "mkdir");
  const long made = perform(
      {.kind = FileCallKind::make_directory, .path = directory_.c_str(), .mode = 0777}, tap_);
  if (made < 0 && made != -EEXIST) {
    return failed_step(
        made == -ENOENT ? "make the folder; the one above it has to be there" : "make the folder",
        static_cast<int>(-made), "mkdir");
  }
  const int error = directory_file_.open(
      {.kind = FileCallKind::open, .path = directory_.c_str(), .flags = O_RDONLY | O_DIRECTORY});
  return error == 0 ? sync_parent() : failed_step("open the folder", error, "open");
}

// The name of the directory too, also if another process made it just before it lost its power.
FileFailure AppendLogFile::sync_parent() {
  const std::string parent = parent_of(directory_);
  OwnFile file(tap_);
  const int opened = file.open(
      {.kind = FileCallKind::open, .path = parent.c_str(), .flags = O_RDONLY | O_DIRECTORY});
  constexpr const char* step = "sync the folder above";
  if (opened == EACCES) {
    // It may be entered and not read: the name is on the device when all of the file system is.
    const int directory = directory_file_.get();
    const long synced =
        perform_other("syncfs", directory, nullptr, tap_, [&] { return ::syncfs(directory); });
    return synced == 0 ? FileFailure{} : failed_step(step, static_cast<int>(-synced), "syncfs");
  }
  if (opened != 0) return failed_step(step, opened, "open");
  const int error = fsync_directory(file.get());
  return error == 0 ? FileFailure{} : failed_step(step, error, "fsync");
}

// A lock of the open file: another AppendLog of this process does not get it either, and it ends
// with the process, however that ends.
FileFailure AppendLogFile::lock() {
  const int opened = open_in_directory(lock_file_, "lock", O_RDWR | O_CREAT, options_.mode);
  if (opened != 0) return failed_step("open the lock", opened, "open", "lock");
  const int error = set_lock(F_WRLCK);
  if (error == 0) return {};
  const bool taken = error == EAGAIN || error == EACCES;
  return failed_step(
      taken ? "open in another program, or by another AppendLog of this one" : "lock it",
      taken ? EWOULDBLOCK : error, "fcntl");
}

int AppendLogFile::set_lock(short kind) noexcept {
  struct flock whole{};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  const int file = lock_file_.get();
  return static_cast<int>(-perform_other("fcntl", file, nullptr, tap_,
                                         [&] { return ::fcntl(file, F_OFD_SETLK, &whole); }));
}

void AppendLogFile::unlock() noexcept {
  if (lock_file_.get() >= 0 && owner_ == ::getpid()) (void)set_lock(F_UNLCK);
  lock_file_.close();
}

// Not to wait for the other end of a FIFO.
int AppendLogFile::open_in_directory(OwnFile& file, const char* name, int flags,
                                     std::uint32_t mode) noexcept {
  return file.open({.kind = FileCallKind::open,
                    .descriptor = directory_file_.get(),
                    .path = name,
                    .flags = flags | O_NOFOLLOW | O_NONBLOCK,
                    .mode = mode});
}

long AppendLogFile::unlink(const char* name) noexcept {
  return perform({.kind = FileCallKind::unlink, .descriptor = directory_file_.get(), .path = name},
                 tap_);
}

// Cuts what is torn off the newest segment, makes the rest durable, and is ready to go on behind
// it.
FileFailure AppendLogFile::recover(std::uint64_t first) {
  name_ = segment_name(first);
  const int opened = open_in_directory(segment_, name_.data(), O_RDWR, options_.mode);
  if (opened != 0) return failed_step("open the segment", opened, "open", name_.data());
  AppendLogScan scan(tap_);
  switch (scan.begin(segment_.get(), first)) {
    case AppendLogScan::Header::whole: break;
    case AppendLogScan::Header::damaged:
      return failed_step("its header is damaged", EBADMSG, "header", name_.data());
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
  if (scan.data_end() > offset_) {
    if (FileFailure failed = keep(offset_, scan.data_end()); failed.error != 0) return failed;
  }
  if (const int error = truncate(offset_); error != 0) {
    return failed_step("cut what is torn off the segment", error, "ftruncate", name_.data());
  }
  // A sync that failed may have left what is not on the device in the page cache, as if it were. It
  // is written once more, so that the next sync says the truth.
  if (FileFailure failed = copy_to(segment_.get(), name_.data(), proven, proven, offset_);
      failed.error != 0) {
    return failed;
  }
  if (const int error = fsync(FileCallKind::fsync, segment_.get()); error != 0) {
    return failed_step("sync the segment", error, "fsync", name_.data());
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
  if (scan.proves_damage()) {
    FileFailure said = failure(EBADMSG, FileOperation::read, "checksum", name, end);
    said.step = "damaged";
    return said;
  }
  if (scan.error() != 0) {
    return failure(scan.error(), FileOperation::read, scan.call(), name, end);
  }
  proven = heads.empty() ? end : heads[oldest].offset;
  return {};
}

// Nothing proves that what stands behind the end was not acknowledged: it is durable beside the
// segment before it is cut.
FileFailure AppendLogFile::keep(std::uint64_t from, std::uint64_t to) {
  std::string name;
  OwnFile kept(tap_);
  if (FileFailure failed = make_kept(from, name, kept); failed.error != 0) return failed;
  FileFailure failed = copy_to(kept.get(), name.c_str(), 0, from, to);
  if (failed.error == 0) {
    const int error = fsync(FileCallKind::fsync, kept.get());
    if (error != 0) failed = failure(error, FileOperation::sync, "fsync", name.c_str(), 0);
  }
  kept.close();
  if (failed.error == 0) failed = sync_directory();
  if (failed.error == 0) {
    cut_ = {.bytes = to - from, .offset = from, .file = directory_ + "/" + name};
    return {};
  }
  failed.step = "keep what must be cut off the log";
  (void)unlink(name.c_str());
  return failed;
}

// A new file for what stands at `from`: of nobody but the owner, whatever others may do with the
// segment.
FileFailure AppendLogFile::make_kept(std::uint64_t from, std::string& name, OwnFile& kept) {
  constexpr std::uint32_t mode = 0600;
  const std::string begin = std::string(name_.data()) + "." + std::to_string(from);
  int error = EEXIST;
  for (unsigned n = 1; error == EEXIST; ++n) {
    name = begin;
    if (n != 1) name.append(".").append(std::to_string(n));
    name += ".cut";
    error = open_in_directory(kept, name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
  }
  if (error == 0) return {};
  return failed_step("keep what must be cut off the log", error, "open", name.c_str());
}

// What the segment has from `from` to `to`, in the file `name` at `at`.
FileFailure AppendLogFile::copy_to(int file, const char* name, std::uint64_t at, std::uint64_t from,
                                   std::uint64_t to) {
  std::vector<std::byte> piece;
  while (from < to) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(to - from, kPieceBytes)));
    const long got = read_fully(segment_.get(), from, piece, tap_);
    if (got < 0) {
      return failure(static_cast<int>(-got), FileOperation::read, "preadv", name_.data(), from);
    }
    const auto whole = std::span(piece).first(static_cast<std::size_t>(got));
    if (whole.empty()) return failure(EIO, FileOperation::read, "preadv", name_.data(), from);
    if (const int error = write_fully(file, at, whole, tap_); error != 0) {
      return failure(error, FileOperation::write, "pwritev", name, at);
    }
    from += whole.size();
    at += whole.size();
  }
  return {};
}

// Growing.

// It gets its name when its header is durable, and the name is durable before anything is in it. So
// a segment without a whole header is damage.
FileFailure AppendLogFile::begin_segment(std::uint64_t first) noexcept {
  constexpr const char* step = "begin the segment";
  const SegmentName name = segment_name(first);
  {
    const sync::SeenLock lock(segments_mutex_);
    const bool room = attempt([&] { segments_.reserve(segments_.size() + 1); });
    if (!room) return failed_step(step, ENOMEM, "reserve", name.data());
  }
  const int opened =
      open_in_directory(segment_, kInTheMaking, O_RDWR | O_CREAT | O_TRUNC, options_.mode);
  if (opened != 0) return failed_step(step, opened, "open", name.data());
  name_ = name;
  offset_ = 0;
  preallocate();
  write_zeros(0);
  SegmentHeader header{.log = log_, .first = first};
  header.check = header.right_check();
  if (const int error = write_fully(segment_.get(), 0, raw_bytes(header), tap_); error != 0) {
    return failed_step(step, error, "pwritev", name.data());
  }
  if (const int error = fsync(FileCallKind::fsync, segment_.get()); error != 0) {
    return failed_step(step, error, "fsync", name.data());
  }
  const long renamed = perform_whole({.kind = FileCallKind::rename,
                                      .descriptor = directory_file_.get(),
                                      .to_descriptor = directory_file_.get(),
                                      .path = kInTheMaking,
                                      .to_path = name.data()},
                                     tap_);
  if (renamed < 0) return failed_step(step, static_cast<int>(-renamed), "rename", name.data());
  if (FileFailure failed = sync_directory(); failed.error != 0) return failed;
  offset_ = sizeof header;
  next_sequence_ = first;
  finished_ = false;
  ++begun_;
  const sync::SeenLock lock(segments_mutex_);
  segments_.push_back(first);
  return {};
}

// So that a sync need not write down where the file's bytes are and how many. It can do without:
// what is refused, or was had in part, is given back.
void AppendLogFile::preallocate() noexcept {
  room_ = 0;
  if (!options_.preallocate || offset_ >= options_.segment_bytes) return;
  const std::uint64_t bytes =
      std::min(options_.segment_bytes - offset_, free_bytes() / kShareOfDevice);
  if (bytes == 0) return;
  const long had = perform({.kind = FileCallKind::preallocate,
                            .descriptor = segment_.get(),
                            .offset = offset_,
                            .bytes = bytes},
                           tap_);
  if (had == 0) room_ = offset_ + bytes;
  else (void)truncate(offset_);
}

// What the device has left for this user.
std::uint64_t AppendLogFile::free_bytes() noexcept {
  struct statfs device{};
  (void)perform_other("fstatfs", segment_.get(), nullptr, tap_,
                      [&] { return ::fstatfs(segment_.get(), &device); });
  return static_cast<std::uint64_t>(device.f_bavail) * static_cast<std::uint64_t>(device.f_bsize);
}

// Room that was never written costs a sync more than the bytes: that it is written now has to be
// written down. Zeros are there already, as far as a reader sees. A failure costs no more than
// time.
void AppendLogFile::write_zeros(std::uint64_t from) noexcept {
  if (from >= room_) return;
  const std::uint64_t all = std::min<std::uint64_t>(kZerosAhead, room_ - from);
  std::array<iovec, kZerosAhead / kZeros.size()> pieces;
  std::size_t count = 0;
  for (std::uint64_t left = all; left > 0; left -= pieces[count++].iov_len) {
    pieces[count] = {const_cast<std::byte*>(kZeros.data()),
                     static_cast<std::size_t>(std::min<std::uint64_t>(left, kZeros.size()))};
  }
  const long wrote = perform({.kind = FileCallKind::write,
                              .descriptor = segment_.get(),
                              .offset = from,
                              .bytes = all,
                              .pieces = pieces.data(),
                              .piece_count = count},
                             tap_);
  if (wrote <= 0) room_ = 0;  // not again
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
  if (room_ != 0 && end > room_) preallocate();
  if (end > zeroed_ && batch.size() <= kSmallBatch) write_zeros(end);
  if (const int error = write_fully(segment_.get(), offset_, batch, tap_); error != 0) {
    return failure(error, FileOperation::append, "pwritev", name_.data(), offset_);
  }
  offset_ += batch.size();
  next_sequence_ += count;
  return {};
}

FileFailure AppendLogFile::sync() noexcept {
  if (!unsynced_) return {};
  const int error = fsync(FileCallKind::fdatasync, segment_.get());
  if (error != 0) return failure(error, FileOperation::sync, "fdatasync", name_.data(), offset_);
  unsynced_ = false;
  return {};
}

void AppendLogFile::finish() noexcept {
  if (owner_ != ::getpid()) return;  // a child that was forked
  if (!finished_ && next_sequence_ > 1) {
    BatchHead head{
        .mark = BatchHead::kMark, .first = next_sequence_, .durable = next_sequence_ - 1};
    head.check = head.right_check(log_, offset_);
    if (write_fully(segment_.get(), offset_, raw_bytes(head), tap_) == 0) offset_ += sizeof head;
  }
  (void)truncate(offset_);
}

// Oldest first, and each is durable before the next one begins: what a loss of power leaves has no
// gap.
FileResult AppendLogFile::trim(std::uint64_t sequence) {
  for (std::uint64_t removed = 0;; ++removed) {
    std::uint64_t oldest = 0;
    {
      const sync::SeenLock lock(segments_mutex_);
      if (segments_.size() < 2 || segments_[1] > sequence) return FileResult(removed);
      oldest = segments_.front();
    }
    const SegmentName name = segment_name(oldest);
    const long gone = unlink(name.data());
    // Where a sync failed it may be gone already.
    if (gone < 0 && gone != -ENOENT) {
      return {failed_step("remove the segment", static_cast<int>(-gone), "unlink", name.data()),
              removed};
    }
    if (FileFailure failed = sync_directory(); failed.error != 0) {
      return {std::move(failed), removed};
    }
    const sync::SeenLock lock(segments_mutex_);
    segments_.erase(segments_.begin());
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
