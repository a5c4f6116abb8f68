// SPDX-License-Identifier: MIT
//
// Opening a file that many requests name.
#include <errno.h>

#include <handoff/core/misuse.hpp>
#include <handoff/file/file_result.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <string>

#include "../core/internal/call_failed.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "file_call.hpp"
#include "open_file_state.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {
namespace {

[[noreturn]] void fail(const std::string& path, int error, const char* step = "open") {
  raise(call_failed(error, "OpenFile " + escaped(path) + ": " + step));
}

int flags_of(const OpenFileOptions& options) noexcept {
  int flags = O_NOCTTY | O_NONBLOCK | (options.write ? O_RDWR : O_RDONLY);
  if (options.create) flags |= O_CREAT;
  if (options.direct) flags |= O_DIRECT;
  if (!options.follow_last) flags |= O_NOFOLLOW;
  return flags;
}

// The directory that the path must not leave, for the time of the call.
OwnFile open_beneath(const OpenFileOptions& options) {
  if (options.beneath.empty()) return OwnFile(options.tap);
  if (has_zero_byte(options.beneath)) fail(options.beneath, EINVAL, kZeroByte);
  const long result = perform_whole(
      {.kind = FileCallKind::open, .path = options.beneath.c_str(), .flags = O_PATH | O_DIRECTORY},
      options.tap);
  if (result < 0) fail(options.beneath, static_cast<int>(-result), "open `beneath`");
  return OwnFile(options.tap, result);
}

OwnFile open_in(int directory, const std::string& path, const OpenFileOptions& options) {
  FileCall call{.kind = FileCallKind::open,
                .descriptor = directory,
                .path = path.c_str(),
                .flags = flags_of(options),
                .resolve = directory == AT_FDCWD ? 0 : resolve_beneath(),
                .mode = options.mode};
  long result = perform_whole(call, options.tap);
  for (unsigned again = 0; result == -EAGAIN && call.resolve != 0 && again < 100; ++again) {
    result = perform_whole(call, options.tap);  // a rename crossed the path
  }
  if (result == -ENOSYS && call.resolve != 0) result = open_by_steps(call, options.tap);
  if (result < 0) fail(path, refusal_of_open(result), step_of_open(result));
  return OwnFile(options.tap, result);
}

}  // namespace

std::uint64_t opened_now() noexcept {
  static sync::Mutex mutex;
  static std::uint64_t last = 0;
  const sync::SeenLock lock(mutex);
  return ++last;
}

void retain(OpenFileState* state) noexcept {
  // order: relaxed, there is a handle already.
  if (state != nullptr) state->handles.fetch_add(1, sync::order::relaxed);
}
void release(OpenFileState* state) noexcept {
  // order: acq_rel, partner is itself: what others did with the file comes before the end.
  if (state == nullptr || state->handles.fetch_sub(1, sync::order::acq_rel) != 1) return;
  (void)perform_whole({.kind = FileCallKind::close, .descriptor = state->descriptor}, state->tap);
  delete state;
}

}  // namespace detail

OpenFile OpenFile::open(const std::string& path, const OpenFileOptions& options) {
  using namespace detail;
  if (has_zero_byte(path)) detail::fail(path, EINVAL, kZeroByte);
  auto state = std::make_unique<OpenFileState>();
  state->path = path;
  state->tap = options.tap;
  const OwnFile beneath = open_beneath(options);
  OwnFile file = open_in(beneath.get() < 0 ? AT_FDCWD : beneath.get(), path, options);
  state->opened = opened_now();
  struct statx attributes{};
  const long known = stat_of(file.get(), attributes, options.tap);
  if (known < 0) detail::fail(path, static_cast<int>(-known));
  const int refused = options.allow_special ? 0 : refusal_of(attributes);
  if (refused != 0) detail::fail(path, refused, kNotRegular);
  // O_NONBLOCK was for a FIFO; io_uring would take it for a wish.
  const long settled = perform_other("fcntl", file.get(), path.c_str(), options.tap, [&] {
    return ::fcntl(file.get(), F_SETFL, options.direct ? O_DIRECT : 0);
  });
  if (settled < 0) detail::fail(path, static_cast<int>(-settled));
  if (options.truncate) {
    const long cut = perform_whole(
        {.kind = FileCallKind::truncate, .descriptor = file.get(), .offset = 0}, options.tap);
    if (cut < 0) detail::fail(path, static_cast<int>(-cut), "truncate");
  }
  state->direct = options.direct;
  state->writable = options.write;
  state->device = std::uint64_t{attributes.stx_dev_major} << 32 | attributes.stx_dev_minor;
  state->inode = attributes.stx_ino;
  state->descriptor = file.release();
  return OpenFile(state.release());
}

int OpenFile::descriptor() const noexcept { return state_ == nullptr ? -1 : state_->descriptor; }

const std::string& OpenFile::path() const noexcept {
  static const std::string none;
  return state_ == nullptr ? none : state_->path;
}

}}  // namespace handoff::HANDOFF_ABI
