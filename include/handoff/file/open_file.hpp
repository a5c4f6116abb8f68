// SPDX-License-Identifier: MIT
//
// A file that is open: what many requests for ranges of one file name.
//
//   handoff::OpenFile file = handoff::OpenFile::open("table.bin", {.write = true, .create = true});
//   auto read = files.read(file, into, 4096);  // a Future<FileResult>
//
// For: many requests for one file. Not for: one request for a whole file (name its path).
// Concurrency: a handle, like a shared_ptr; copies may be used by different threads at once. The
//   file is closed when the last handle and the last request with it are gone.
// Blocks: open(), as the system's does, but never on a FIFO. Allocates: once.
// Refused: what is no regular file (directory, FIFO, device, socket), unless allow_special.
// Exceptions: open() throws std::system_error; an empty handle in a request is misuse.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileTap;
struct OpenFileAccess;
struct OpenFileState;
void retain(OpenFileState* state) noexcept;
void release(OpenFileState* state) noexcept;
}  // namespace detail

// What may be done with the file, and what its path may be.
struct OpenFileOptions {
  bool write = false;  // may be written to, not only read
  bool create = false;  // if it is not there
  bool truncate = false;  // to no bytes
  bool direct = false;  // past the page cache: offsets, lengths and memory in whole blocks
  bool allow_special = false;  // what is no regular file too
  bool follow_last = true;  // a link in the place of the name; false: ELOOP
  std::uint32_t mode = 0666;  // of a new file, less the umask
  std::string beneath = {};  // a directory that the path must not leave, also by no link
  detail::FileTap* tap = nullptr;  // for tests: sees and changes every system call
};

class OpenFile {
 public:
  OpenFile() noexcept = default;  // empty
  // Throws std::system_error. A tap, for tests, sees every call.
  static OpenFile open(const std::string& path, const OpenFileOptions& options = {});

  OpenFile(const OpenFile& other) noexcept : state_(other.state_) { detail::retain(state_); }
  OpenFile(OpenFile&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  OpenFile& operator=(OpenFile other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~OpenFile() { detail::release(state_); }

  // False: empty.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  // Its descriptor, -1 of an empty one; stays the handle's.
  [[nodiscard]] int descriptor() const noexcept;
  // As open() was told.
  [[nodiscard]] const std::string& path() const noexcept;

 private:
  friend struct detail::OpenFileAccess;
  explicit OpenFile(detail::OpenFileState* state) noexcept : state_(state) {}

  detail::OpenFileState* state_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI
