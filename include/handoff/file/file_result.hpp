// SPDX-License-Identifier: MIT
//
// What became of a request to a FileEngine: the bytes that were moved, or the error with the file,
// the offset and the operation.
//
//   handoff::FileResult result = files.write("a.bin", bytes).get();
//   if (!result.ok()) log(result.failure().text());  // "a.bin: write at 4096: No space left ..."
//   std::uint64_t moved = result.bytes();            // or throws std::system_error
//
// For: every request, whatever the backend. A result that says ok() means that all was done: short
//   transfers and interrupted calls have been completed.
// Concurrency: a value. Blocks: never. Allocates: the name of the file, when it failed.
// Exceptions: bytes(), data() and attributes() of a request that failed throw std::system_error;
//   where exceptions are off that is misuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
struct FileResultAccess;
}  // namespace detail

// What a request asks for.
enum class FileOperation : std::uint8_t {
  read,
  write,    // at an offset of the file that is there, or of a new one
  append,   // at the end, where no other append of this engine comes between
  sync,     // what was written before is durable
  replace,  // the file's whole contents: old or new, never a mixture
  copy,     // a file's contents to another path
  remove,   // the name
  stat,     // what FileAttributes has
};
// The enumerator's name.
const char* to_string(FileOperation operation) noexcept;

// What one asks about a file.
struct FileAttributes {
  std::uint64_t bytes = 0;            // its length
  std::uint64_t allocated_bytes = 0;  // what it takes on the device
  std::uint32_t mode = 0;             // kind and permissions, as st_mode
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::int64_t modified_ns = 0;  // since 1970
};

// Why a request failed. The first error counts; what fails while things are cleaned up after it is
// told in `further`.
struct FileFailure {
  int error = 0;  // an errno; ECANCELED: stopped or closed, ETIME: the deadline passed
  FileOperation operation = FileOperation::read;
  const char* call = "";     // the system call, "pwrite"
  const char* step = "";     // in place of the operation, where that says too little
  const char* owner = "";    // "AppendLog": whose file it is, if it is not the request's own
  std::string file = {};     // as the request named it
  std::uint64_t offset = 0;  // of the first byte that was not moved
  int further = 0;           // an errno, or 0

  // One line: file, operation (or the step) and offset, reason. Bytes that would break the line are
  // escaped.
  [[nodiscard]] std::string text() const;
  // The same as an exception: code() is `error`.
  [[nodiscard]] std::system_error exception() const;
};

class [[nodiscard("it says whether the request failed")]] FileResult {
 public:
  // Says that the request was done.
  FileResult() noexcept = default;
  explicit FileResult(std::uint64_t bytes) noexcept : bytes_(bytes) {}
  // Says that it failed; `bytes` of it were moved before.
  FileResult(FileFailure failure, std::uint64_t bytes) noexcept
      : bytes_(bytes), failure_(std::move(failure)) {}

  // Whether all was done.
  [[nodiscard]] bool ok() const noexcept { return failure_.error == 0; }

  // How many bytes were read, written or copied. A read that ends at the end of the file is ok and
  // has fewer bytes than were asked for. Throws std::system_error.
  std::uint64_t bytes() const;
  // ... also where it failed: the first bytes that are where they should be, durable
  // or not.
  [[nodiscard]] std::uint64_t bytes_before_failure() const noexcept { return bytes_; }
  // Where an append put its first byte. Throws std::system_error.
  std::uint64_t offset() const;
  // What was read without memory of the caller's. Throws std::system_error.
  std::vector<std::byte>& data();
  // What stat found. Throws std::system_error.
  const FileAttributes& attributes() const;
  // Throws std::system_error if the request failed.
  void check() const;

  // Why the request failed; else error is 0.
  [[nodiscard]] const FileFailure& failure() const noexcept { return failure_; }

 private:
  friend struct detail::FileResultAccess;

  std::uint64_t bytes_ = 0;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> data_;
  FileAttributes attributes_;
  FileFailure failure_;
};

}}  // namespace handoff::HANDOFF_ABI
