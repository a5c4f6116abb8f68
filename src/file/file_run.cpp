// SPDX-License-Identifier: MIT
//
// The whole way of a run, the machine that goes it, and how it opens files and makes them durable.
#include "file_run.hpp"

#include <fcntl.h>

#include <handoff/core/internal/attempt.hpp>
#include <handoff/sync/clock.hpp>
#include <utility>

#include "open_file_state.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::uint64_t kOffsetMost = std::uint64_t{1} << 63;
constexpr unsigned kMostOpens = 16;  // while others make and remove the name

}  // namespace

FileRun::FileRun(FileServices& services, FileRequest&& request) noexcept
    : services_(services), request_(std::move(request)) {}

FileRun::Step FileRun::next(FileCall& call) noexcept {
  for (;;) {
    // Changed first: once it is asked for, another thread may go on with the run at once.
    switch (std::exchange(wants_, Wants::to_go_on)) {
      case Wants::to_begin:
        innermost_ = whole().handle();
        if (innermost_) break;
        finish();
        [[fallthrough]];
      case Wants::end:
        // By the driver's thread: its cache has the frame.
        if (innermost_) std::exchange(innermost_, nullptr).destroy();
        wants_ = Wants::end;
        return Step::ended;
      case Wants::to_go_on: innermost_.resume(); break;
      case Wants::call: wants_ = Wants::result; [[fallthrough]];
      case Wants::piece: call = call_; return Step::issue;
      case Wants::result: wants_ = Wants::result; [[fallthrough]];
      case Wants::completion: return Step::busy;
      case Wants::bytes:
        if (!services_.reserve(*this, wanted_)) return Step::parked;
        break;
      case Wants::share: {
        const bool parks = out_ == 0;  // else it asks again when a call has completed
        paid_ = parks;
        said_ = 0;
        if (!services_.spend(*this, wanted_, parks)) return parks ? Step::parked : Step::busy;
        paid_ = true;
        said_ = 1;
        break;
      }
      case Wants::sync:
        if (!services_.join_sync(*this)) return Step::parked;
        sync_place.makes = true;
        break;
    }
  }
}

void FileRun::completed(const FileCall& call, long result) noexcept {
  if (out_ != 0) return piece_completed(slots_[call.tag], result);
  const FileCallKind kind = call_.kind;
  // A close has closed, whatever it says: the number may be another file's already. A sync that
  // says EAGAIN has failed like any other.
  if (kind == FileCallKind::close && result == -EINTR) result = 0;
  const bool repeatable = kind != FileCallKind::fsync && kind != FileCallKind::close;
  const bool again = result == -EAGAIN && repeatable && again_++ < kMostAgain;
  wants_ = again || result == -EINTR ? Wants::call : Wants::to_go_on;
  if (wants_ == Wants::call) return;
  again_ = 0;
  const bool lacks_openat2 = result == -ENOSYS && call_.resolve != 0;
  said_ = lacks_openat2 ? open_by_steps(call_, services_.tap()) : result;
}

FileRun::Steps FileRun::whole() noexcept {
  if (may_begin()) {
    const bool done = co_await operation();
    if (done && is_durable()) (void)co_await make_durable();
  }
  // One after the other, until nothing of ours is left.
  if (has_temporary_) {
    (void)co_await unlink(directory_, temporary_);
    if (said_ < 0 && said_ != -ENOENT) call_failed();
  }
  while (close_next()) {
    (void)co_await made();
    if (said_ < 0 && wrote_) call_failed();
  }
  finish();
  co_return true;
}

bool FileRun::may_begin() noexcept {
  const int closed = services_.whether_to_begin();
  if (closed != 0) return fail(-closed, "", "not begun, as the engine was closed");
  const int error = stopped();
  if (error != 0) return fail(-error, "", "not begun");
  begun_ = true;
  const bool at_offset =
      request_.operation == FileOperation::read || request_.operation == FileOperation::write;
  if (at_offset) file_offset_ = request_.offset;  // of what fails before anything is moved
  const char* const wrong = what_is_wrong();
  return wrong == nullptr || fail(-EINVAL, "", wrong);
}

// Bad input, found before anything is done; null: none.
const char* FileRun::what_is_wrong() const noexcept {
  const FileOperation operation = request_.operation;
  const bool opened = request_.file.valid();
  if (has_zero_byte(request_.path) || has_zero_byte(request_.to)) return kZeroByte;
  if (opened && (operation == FileOperation::replace || operation == FileOperation::remove)) {
    return "replace and remove need a path, not an OpenFile";
  }
  constexpr const char* beyond = "no file can have bytes there";
  if (request_.offset >= kOffsetMost) return beyond;
  std::uint64_t bytes = 0;
  if (operation == FileOperation::read) bytes = request_.into.bytes();
  if (operation == FileOperation::write) bytes = request_.from.bytes();
  return bytes > kOffsetMost - 1 - request_.offset ? beyond : nullptr;
}

int FileRun::stopped() const noexcept {
  const KeptUntil& until = request_.until;
  // order: relaxed, as in stop().
  const bool is_stopped = is_stopped_.load(sync::order::relaxed);
  if (is_stopped || until.stop_token().stop_requested()) return ECANCELED;
  const bool late = until.has_deadline() && sync::clock::now() >= until.deadline();
  return late ? ETIME : 0;
}

int FileRun::given_up() const noexcept {
  const int error = stopped();
  return error != 0 || !is_untouched() ? error : services_.whether_to_begin();
}

// What it has opened by now is closed as if nothing had been. An append or a write changes the file
// when it opens it, so it waits for its share before that.
bool FileRun::is_untouched() const noexcept {
  const FileOperation operation = request_.operation;
  const bool in_place = operation == FileOperation::write || operation == FileOperation::append;
  return !begun_ || (next_ == 0 && result_.bytes_before_failure() == 0 && !(in_place && fd_ >= 0));
}

// Before a piece: 0, or the errno with which it ends.
int FileRun::may_move() noexcept {
  if (!is_paced_) return stopped();
  const int error = given_up();
  begun_ = begun_ && (error == 0 || !is_untouched());
  return error;
}

FileRun::Steps FileRun::operation() noexcept {
  switch (request_.operation) {
    case FileOperation::read: return read();
    case FileOperation::write:
    case FileOperation::append: return write();
    case FileOperation::sync: return open_file(O_RDONLY);
    case FileOperation::replace:
    case FileOperation::copy: return replace();
    case FileOperation::remove: return remove();
    case FileOperation::stat: break;
  }
  return ask();
}

// The first error counts.
bool FileRun::fail(long negative_errno, const char* call, const char* step) noexcept {
  FileFailure& failure = FileResultAccess::failure(result_);
  const int error = static_cast<int>(-negative_errno);
  if (failure.error == 0) {
    failure.error = error;
    failure.call = call;
    failure.step = step;
    failure.offset = file_offset_ + FileResultAccess::bytes(result_);
  } else if (failure.further == 0) {
    failure.further = error;
  }
  return false;
}

// As call_; false: all are closed.
bool FileRun::close_next() noexcept {
  for (int* const one : {&fd_, &source_, &directory_}) {
    const int descriptor = std::exchange(*one, -1);
    if (descriptor < 0 || lender_of(descriptor) != nullptr) continue;
    wrote_ = wrote_ && one == &fd_;
    call_ = {.kind = FileCallKind::close, .descriptor = descriptor};
    return true;
  }
  return false;
}

void FileRun::finish() noexcept {
  FileFailure& failure = FileResultAccess::failure(result_);
  if (failure.error == 0) return;
  const bool is_nameless = request_.path.empty() && !request_.file.valid();
  if (failure.error == ENOENT && is_nameless && !names_target_) failure.step = "the path is empty";
  failure.operation = request_.operation;
  FileResultAccess::data(result_) = {};
  // The old file is as it was.
  const bool at_once =
      request_.operation == FileOperation::replace || request_.operation == FileOperation::copy;
  if (at_once && !renamed_) FileResultAccess::bytes(result_) = 0;
  if (names_target_) failure.file = std::move(request_.to);
  else if (!request_.file.valid()) failure.file = std::move(request_.path);
  else (void)attempt([&] { failure.file = request_.file.path(); });
}

// ---- opened: nothing special, not out of `beneath`, without waiting ----------------------------

FileAttributes attributes_of(const struct statx& from) noexcept {
  return {.bytes = from.stx_size,
          .allocated_bytes = from.stx_blocks * 512,
          .mode = from.stx_mode,
          .inode = from.stx_ino,
          .device = device_of(from),
          .modified_ns = from.stx_mtime.tv_sec * 1'000'000'000LL + from.stx_mtime.tv_nsec};
}

FileCall FileRun::open_call(const std::string& path, int flags) const noexcept {
  const int beneath = services_.beneath();
  return {.kind = FileCallKind::open,
          .descriptor = beneath,
          .path = path.c_str(),
          // openat2 refuses what means nothing beside O_PATH.
          .flags = flags | ((flags & O_PATH) != 0 ? 0 : O_NOCTTY),
          .resolve = beneath == AT_FDCWD ? 0 : resolve_beneath(),
          .mode = request_.mode};
}

// The file that the request names: fd_, and its attributes where they are needed. What is special
// is refused. `flags`: O_CREAT stands for "if it is not there"; name_is_new_ then says whether it
// was made here.
FileRun::Steps FileRun::open_file(int flags) noexcept {
  const FileOperation operation = request_.operation;
  if (request_.file.valid()) {
    OpenFileState& file = *OpenFileAccess::state(request_.file);
    fd_ = file.descriptor;
    opened_ = file.opened;
    // After an fsync that failed, what was written to the file counts as lost.
    const bool asks_for_durable = request_.durable || operation == FileOperation::sync;
    const int lost = asks_for_durable ? lost_after(file, 0) : 0;
    if (lost != 0) co_return fail(-lost, "fsync");
    const bool needs_no_more = operation == FileOperation::sync ||
                               (operation == FileOperation::write && !request_.truncate) ||
                               (operation == FileOperation::read && !owns_its_data());
    if (needs_no_more) co_return true;
  } else {
    direct_ = may_be_direct();
    // A durable request has to know whether the name is new.
    const bool exclusive = (flags & O_CREAT) != 0 && request_.durable;
    // Nothing waits for the other end of a FIFO.
    flags |= O_NONBLOCK | (request_.follow_last ? 0 : O_NOFOLLOW);
    flags |= (direct_ ? O_DIRECT : 0) | (exclusive ? O_EXCL : 0);
    call_ = open_call(request_.path, flags);
    for (unsigned opens = 0;;) {
      (void)co_await made();
      const bool makes = (call_.flags & O_CREAT) != 0;
      if (said_ == -EINVAL && direct_) {  // this file system has none
        direct_ = false;
        call_.flags &= ~O_DIRECT;
      } else if (!exclusive || said_ != (makes ? -EEXIST : -ENOENT) || ++opens == kMostOpens) {
        break;
      } else if (makes) {
        call_.flags &= ~(O_CREAT | O_EXCL);
      } else {  // it went in between; or it is a link to nothing, which O_EXCL refuses
        call_.flags |= O_CREAT | (opens < kMostOpens / 2 ? O_EXCL : 0);
      }
    }
    if (said_ < 0) co_return fail(-refusal_of_open(said_), view(call_).name, step_of_open(said_));
    fd_ = static_cast<int>(said_);
    opened_ = opened_now();
    name_is_new_ = exclusive && (call_.flags & O_CREAT) != 0;
  }
  if (co_await look_at(fd_) < 0) co_return call_failed();
  attributes_ = attributes_of(seen_);
  if (request_.file.valid()) co_return true;
  int refused = refusal_of(seen_);
  if (refused == EISDIR && operation == FileOperation::sync) refused = 0;
  if (refused != 0) co_return fail(-refused, "openat", kNotRegular);
  // io_uring takes O_NONBLOCK for a wish; to threads it says nothing.
  if (window_ > 1) settle_flags(direct_);
  co_return true;
}

void FileRun::settle_flags(bool direct) noexcept {
  direct_ = direct;
  (void)other("fcntl", fd_, [&] { return ::fcntl(fd_, F_SETFL, direct ? O_DIRECT : 0); });
}

// The directory of what is named, as directory_; parts_ has the name in it.
FileRun::Steps FileRun::open_directory() noexcept {
  const std::string& path = names_target_ ? request_.to : request_.path;
  if (!attempt([&] { parts_ = parts_of(path); })) co_return fail(-ENOMEM, "");
  if (path.empty()) co_return fail(-ENOENT, "", "the path is empty");
  if (parts_.name.empty()) co_return fail(-EISDIR, "");
  // A directory that is synced has to be open for reading.
  call_ = open_call(parts_.directory, O_DIRECTORY | (is_durable() ? O_RDONLY : O_PATH));
  if (co_await made() < 0) co_return call_failed();
  directory_ = static_cast<int>(said_);
  opened_ = opened_now();
  co_return true;
}

// The open file that the request names, if the descriptor is its. Null: it is ours.
OpenFileState* FileRun::lender_of(int descriptor) const noexcept {
  OpenFileState* const file = OpenFileAccess::state(request_.file);
  return file != nullptr && file->descriptor == descriptor ? file : nullptr;
}

bool FileRun::is_durable() const noexcept {
  const FileOperation operation = request_.operation;
  const bool changes = operation != FileOperation::read && operation != FileOperation::stat;
  return operation == FileOperation::sync || (changes && request_.durable);
}

// The end of a durable request: the file, if it is still open, and the name, if it may be new.
FileRun::Steps FileRun::make_durable() noexcept {
  if (fd_ >= 0) {
    if (!co_await sync(fd_)) co_return false;
    // What was written before, under a name that may be new, is to be found again.
    const bool asked_by_name = request_.operation == FileOperation::sync &&
                               !request_.file.valid() && S_ISREG(attributes_.mode);
    if (!name_is_new_ && !asked_by_name) co_return true;
    if (!co_await open_directory()) co_return false;
  }
  co_return co_await sync(directory_);
}

// fd_ or directory_, together with all others that wait for that.
FileRun::Steps FileRun::sync(int descriptor) noexcept {
  OpenFileState* const lender = lender_of(descriptor);
  sync_place = {.opened = opened_, .descriptor = descriptor, .open_file = lender};
  if (lender != nullptr) {
    sync_place.device = lender->device;
    sync_place.inode = lender->inode;
  } else if (descriptor == fd_) {
    sync_place.device = attributes_.device;
    sync_place.inode = attributes_.inode;
  } else {
    if (co_await look_at(descriptor) < 0) co_return call_failed();
    sync_place.device = device_of(seen_);
    sync_place.inode = seen_.stx_ino;
  }
  (void)co_await pause(Wants::sync);
  if (sync_place.makes) {
    (void)co_await fsync(services_.begin_sync(*this));
    sync_place.error = said_ < 0 ? static_cast<int>(-said_) : 0;
    // SG-4: before anything else is synced.
    OpenFileState* const synced = sync_place.synced;
    if (synced != nullptr) sync_place.error = lost_after(*synced, sync_place.error);
    services_.end_sync(*this, sync_place.error);
  }
  const int error = sync_place.error;
  // EINVAL: this file system cannot sync a folder, so a name is as durable as it makes it.
  if (error == 0 || (error == EINVAL && descriptor == directory_)) co_return true;
  if (lender != nullptr) (void)lost_after(*lender, error);
  co_return fail(-error, "fsync");
}

}}}  // namespace handoff::HANDOFF_ABI::detail
