// SPDX-License-Identifier: MIT
//
// What the scenarios of FileEngine share: a tap that answers all calls, and files made by hand, so
// that no path is opened.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/file/file_engine.hpp>
#include <span>

#include "file/open_file_state.hpp"

namespace handoff::test {

// What a write may write: as many bytes as are wanted.
inline constexpr std::array<std::byte, 4> kBytes{};

// A descriptor that is asked for its attributes is a real file without contents.
inline int empty_file() {
  static const int descriptor = ::memfd_create("explored", MFD_CLOEXEC);
  return descriptor;
}

inline OpenFile open_file(int descriptor, std::uint64_t inode, detail::FileTap& tap,
                          std::uint64_t opened = 1) {
  auto* const state = new detail::OpenFileState;
  state->tap = &tap;
  state->descriptor = descriptor;
  state->writable = true;
  state->inode = inode;
  state->opened = opened;
  return detail::OpenFileAccess::make(state);
}

inline FileRequest write_to(const OpenFile& file, std::uint64_t offset, std::size_t count = 1) {
  return {.operation = FileOperation::write,
          .file = file,
          .offset = offset,
          .from = std::span(kBytes).first(count)};
}
inline FileRequest write_durably(const OpenFile& file, std::uint64_t offset) {
  FileRequest request = write_to(file, offset);
  request.durable = true;
  return request;
}

// Every call goes well, and a transfer moves all.
class Tap : public detail::FileTap {
 public:
  virtual ~Tap() = default;

  Verdict before(const detail::FileCallView& call) noexcept override {
    switch (call.kind) {
      case detail::FileCallKind::stat: return {};  // of empty_file()
      case detail::FileCallKind::read: return {Verdict::answer, read(call)};
      case detail::FileCallKind::write: return {Verdict::answer, write(call)};
      case detail::FileCallKind::fsync: return {Verdict::answer, sync(call)};
      default: return {Verdict::answer, 0};
    }
  }
  void after(const detail::FileCallView& call, long result) noexcept override {
    if (call.kind == detail::FileCallKind::fsync) synced(call, result);
  }

 protected:
  virtual long read(const detail::FileCallView& call) { return static_cast<long>(call.bytes); }
  virtual long write(const detail::FileCallView& call) { return static_cast<long>(call.bytes); }
  virtual long sync(const detail::FileCallView& /*call*/) { return 0; }
  virtual void synced(const detail::FileCallView& /*call*/, long /*result*/) {}
};

inline FileEngineOptions with(detail::FileTap& tap, FileBackend backend, std::size_t width = 1) {
  return {.width = width, .capacity = 4, .backend = backend, .tap = &tap};
}

}  // namespace handoff::test
