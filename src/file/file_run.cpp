// SPDX-License-Identifier: MIT
//
// The machine of a run: what comes next, how it is waited for, and how it ends.
#include "file_run.hpp"

#include <errno.h>

#include <handoff/core/detail/attempt.hpp>
#include <handoff/sync/clock.hpp>
#include <utility>

#include "open_file_state.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::uint64_t kOffsetMost = std::uint64_t{1} << 63;

const char* call_name(const FileCall& call) noexcept { return view(call).name; }

}  // namespace

FileRun::FileRun(FileServices& services, FileRequest&& request) noexcept
    : services_(services), request_(std::move(request)) {}

FileRun::Step FileRun::next(FileCall& call) noexcept {
  for (;;) {
    switch (mode_) {
      case Mode::stage: (this->*then_)(0); break;
      case Mode::call:
        mode_ = Mode::out;
        call = call_;
        return Step::issue;
      case Mode::out: return Step::busy;
      case Mode::reserve:
        mode_ = Mode::stage;  // before: another thread may go on with it at once
        if (!services_.reserve(*this, wanted_)) return Step::parked;
        break;
      case Mode::spend:
        mode_ = Mode::stage;
        if (!services_.spend(*this, wanted_, true)) return Step::parked;
        break;
      case Mode::sync:
        mode_ = Mode::synced;
        sync_place.makes = false;
        if (!services_.join_sync(*this)) return Step::parked;
        sync_place.makes = true;
        break;
      case Mode::synced:
        if (sync_place.makes) {
          const int descriptor = services_.begin_sync(*this);
          this->call({.kind = FileCallKind::fsync, .descriptor = descriptor},
                     &FileRun::sync_was_made);
        } else {
          (this->*after_)(-sync_place.error);
        }
        break;
      case Mode::transfer: {
        const Step step = next_piece(call);
        if (step != Step::ended) return step;
        if (mode_ == Mode::transfer) transfer_is_over();
        break;
      }
      case Mode::ended: return Step::ended;
    }
  }
}

void FileRun::completed(const FileCall& call, long result) noexcept {
  if (mode_ == Mode::transfer) return piece_completed(call.tag, result);
  single_completed(result);
}

void FileRun::single_completed(long result) noexcept {
  const FileCallKind kind = call_.kind;
  // A close has closed, whatever it says: the number may be another file's already. A sync that
  // says EAGAIN has failed like any other.
  if (kind == FileCallKind::close && result == -EINTR) result = 0;
  const bool repeatable = kind != FileCallKind::fsync && kind != FileCallKind::close;
  const bool again = result == -EAGAIN && repeatable && again_ < kMostAgain;
  if (again || result == -EINTR) {
    again_ = again ? again_ + 1 : again_;
    mode_ = Mode::call;
    return;
  }
  again_ = 0;
  (this->*then_)(result);
}

void FileRun::stage(Then then) noexcept {
  then_ = then;
  mode_ = Mode::stage;
}
void FileRun::call(const FileCall& call, Then then) noexcept {
  call_ = call;
  then_ = then;
  mode_ = Mode::call;
}
void FileRun::reserve(std::uint64_t bytes, Then then) noexcept {
  wanted_ = bytes;
  then_ = then;
  mode_ = Mode::reserve;
}
void FileRun::spend(std::uint64_t bytes, Then then) noexcept {
  wanted_ = bytes;
  then_ = then;
  mode_ = Mode::spend;
}

void FileRun::sync(int descriptor, std::uint64_t device, std::uint64_t inode, Then then) noexcept {
  sync_place = {.device = device, .inode = inode, .opened = opened_, .descriptor = descriptor};
  OpenFileState* const file = OpenFileAccess::state(request_.file);
  if (file != nullptr && file->descriptor == descriptor) sync_place.open_file = file;
  after_ = then;
  mode_ = Mode::sync;
}

void FileRun::sync_was_made(long result) noexcept {
  sync_place.error = result < 0 ? static_cast<int>(-result) : 0;
  // SG-4: before anything else is synced.
  OpenFileState* const synced = sync_place.synced;
  if (synced != nullptr) sync_place.error = lost_after(*synced, sync_place.error);
  services_.end_sync(*this, sync_place.error);
  (this->*after_)(-sync_place.error);
}

int FileRun::stopped() const noexcept {
  const KeptUntil& until = request_.until;
  if (until.stop_token().stop_requested()) return ECANCELED;
  const bool late = until.has_deadline() && sync::clock::now() >= until.deadline();
  return late ? ETIME : 0;
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

void FileRun::begin(long /*result*/) noexcept {
  const int closed = services_.whether_to_begin();
  if (closed != 0) return fail(-closed, "", "not begun, as the engine was closed");
  const int error = stopped();
  if (error != 0) return fail(-error, "", "not begun");
  begun_ = true;
  const bool at_offset =
      request_.operation == FileOperation::read || request_.operation == FileOperation::write;
  if (at_offset) file_offset_ = request_.offset;  // of what fails before anything is moved
  const char* const wrong = what_is_wrong();
  if (wrong != nullptr) return fail(-EINVAL, "", wrong);
  switch (request_.operation) {
    case FileOperation::remove: return remove();
    case FileOperation::stat:
      if (!request_.file.valid()) return ask_by_name();
      break;
    case FileOperation::replace: return reserve(request_.from.bytes(), &FileRun::begin_replace);
    case FileOperation::copy: return reserve(kPiece, &FileRun::begin_file);
    case FileOperation::write:
    case FileOperation::append: return reserve(request_.from.bytes(), &FileRun::begin_file);
    case FileOperation::read:
      if (!request_.into.pieces().empty()) {
        return reserve(request_.into.bytes(), &FileRun::begin_file);
      }
      break;
    case FileOperation::sync: break;
  }
  begin_file(0);
}

// The first error counts. What was begun is cleaned up.
void FileRun::fail(long negative_errno, const char* call, const char* step) noexcept {
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
  stage(&FileRun::clean);
}

// One after the other, until nothing of ours is left.
void FileRun::clean(long /*result*/) noexcept {
  if (has_temporary_) {
    return call(
        {.kind = FileCallKind::unlink, .descriptor = directory_, .path = temporary_.c_str()},
        &FileRun::temporary_is_gone);
  }
  for (int* const descriptor : {&fd_, &source_, &directory_}) {
    const int number = std::exchange(*descriptor, -1);
    if (number < 0 || (descriptor == &fd_ && !owns_fd_)) continue;
    if (descriptor == &source_ && !owns_source_) continue;
    counts_ = descriptor == &fd_ && wrote_;
    return call({.kind = FileCallKind::close, .descriptor = number}, &FileRun::cleaned);
  }
  finish();
  mode_ = Mode::ended;
}

void FileRun::temporary_is_gone(long result) noexcept {
  has_temporary_ = false;
  if (result < 0 && result != -ENOENT) return fail(result, "unlinkat");
  stage(&FileRun::clean);
}

void FileRun::cleaned(long result) noexcept {
  if (result < 0 && counts_) return fail(result, call_name(call_));
  stage(&FileRun::clean);
}

void FileRun::finish() noexcept {
  FileFailure& failure = FileResultAccess::failure(result_);
  if (failure.error == 0) return;
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

// `bytes` more have been moved.
void FileRun::told(std::uint64_t moved) noexcept {
  if (!request_.progress) return;
  told_ += moved;
  request_.progress(told_, total_);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
