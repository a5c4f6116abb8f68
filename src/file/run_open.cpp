// SPDX-License-Identifier: MIT
//
// How a run opens files and directories: nothing special, not out of `beneath`, without waiting.
#include <errno.h>
#include <fcntl.h>

#include <handoff/core/detail/attempt.hpp>

#include "file_run.hpp"
#include "open_file_state.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr unsigned kMostOpens = 16;  // while others make and remove the name

}  // namespace

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

// Opens it as fd_, asks for its attributes, and refuses what is special. `flags`: O_CREAT stands
// for "if it is not there"; name_is_new_ then says whether it was made here.
void FileRun::open_file(const std::string& path, int flags, Then then) noexcept {
  after_ = then;
  // Nothing waits for the other end of a FIFO.
  if (!request_.follow_last) flags |= O_NOFOLLOW;
  if (may_be_direct()) flags |= O_DIRECT;
  direct_ = (flags & O_DIRECT) != 0;
  // A durable request has to know whether the name is new.
  exclusive_ = (flags & O_CREAT) != 0 && request_.durable;
  call(open_call(path, flags | O_NONBLOCK | (exclusive_ ? O_EXCL : 0)), &FileRun::opened);
}

void FileRun::opened(long result) noexcept {
  if (result == -ENOSYS && call_.resolve != 0) result = open_by_steps(call_, services_.tap());
  if (result == -EINVAL && direct_) {  // this file system has none
    direct_ = false;
    call_.flags &= ~O_DIRECT;
    return call(call_, &FileRun::opened);
  }
  if (exclusive_ && ++opens_ < kMostOpens) {
    const bool makes = (call_.flags & O_CREAT) != 0;
    if (makes && result == -EEXIST) {
      call_.flags &= ~(O_CREAT | O_EXCL);
      return call(call_, &FileRun::opened);
    }
    if (!makes && result == -ENOENT) {
      // It went in between; or it is a link to nothing, which O_EXCL refuses.
      call_.flags |= O_CREAT | (opens_ < kMostOpens / 2 ? O_EXCL : 0);
      return call(call_, &FileRun::opened);
    }
  }
  if (result < 0) return fail(-refusal_of_open(result), view(call_).name, step_of_open(result));
  fd_ = static_cast<int>(result);
  owns_fd_ = true;
  opened_ = opened_now();
  name_is_new_ = exclusive_ && (call_.flags & O_CREAT) != 0;
  ask_attributes(&FileRun::attributes_are_there);
}

void FileRun::ask_attributes(Then then) noexcept {
  call({.kind = FileCallKind::stat,
        .descriptor = fd_,
        .path = "",
        .flags = AT_EMPTY_PATH,
        .attributes = &attributes_},
       then);
}

void FileRun::attributes_are_there(long result) noexcept {
  if (result < 0) return fail(result, "statx");
  int refused = refusal_of(attributes_);
  if (refused == EISDIR && request_.operation == FileOperation::sync) refused = 0;
  if (refused != 0) return fail(-refused, "openat", kNotRegular);
  // io_uring takes O_NONBLOCK for a wish; to threads it says nothing.
  if (window_ > 1) settle_flags(direct_);
  stage(after_);
}

void FileRun::adopt_open_file() noexcept {
  const OpenFileState& file = *OpenFileAccess::state(request_.file);
  fd_ = file.descriptor;
  opened_ = file.opened;
  owns_fd_ = false;
}

void FileRun::settle_flags(bool direct) noexcept {
  direct_ = direct;
  (void)other("fcntl", fd_, [&] { return ::fcntl(fd_, F_SETFL, direct ? O_DIRECT : 0); });
}

// The directory of a path, as directory_; parts_ has the name in it.
void FileRun::open_directory(const std::string& path, Then then) noexcept {
  after_ = then;
  if (!attempt([&] { parts_ = parts_of(path); })) return fail(-ENOMEM, "");
  if (path.empty()) return fail(-ENOENT, "", "the path is empty");
  if (parts_.name.empty()) return fail(-EISDIR, "");
  // A directory that is synced has to be open for reading.
  const bool syncs = request_.durable || request_.operation == FileOperation::sync;
  const int flags = O_DIRECTORY | (syncs ? O_RDONLY : O_PATH);
  call(open_call(parts_.directory, flags), &FileRun::directory_is_open);
}

void FileRun::directory_is_open(long result) noexcept {
  if (result == -ENOSYS && call_.resolve != 0) result = open_by_steps(call_, services_.tap());
  if (result < 0) return fail(result, view(call_).name);
  directory_ = static_cast<int>(result);
  opened_ = opened_now();
  stage(after_);
}

// Syncs directory_, together with all others that wait for that.
void FileRun::sync_directory(Then then) noexcept {
  after_ = then;
  call({.kind = FileCallKind::stat,
        .descriptor = directory_,
        .path = "",
        .flags = AT_EMPTY_PATH,
        .attributes = &target_},
       &FileRun::directory_is_known);
}

void FileRun::directory_is_known(long result) noexcept {
  if (result < 0) return fail(result, "statx");
  sync(directory_, device_of(target_), target_.stx_ino, after_);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
