// SPDX-License-Identifier: MIT
//
// Files that are read and written in parallel: by threads, by the kernel's io_uring or by the
// caller. Each request ends in a result that says what failed.
//
//   handoff::FileEngine files;
//   auto saved = files.write("a.bin", bytes, {.durable = true});  // a Future<FileResult>
//   auto text = files.read("b.txt").get().data();                 // whole
//   saved.get().check();                                          // throws std::system_error
//   files.replace("c.json", json, {.durable = true}).get().check();  // old or new, no mixture
//   (void)files.post(std::move(request), [](handoff::FileResult result) { ... });
//
// For: many files, large files, many ranges of one, durable writes. Not for: a log of records
// (AppendLog), trees of files (copy_tree), memory that maps a file.
//
// Contract: executor tier.
// - Concurrency: thread-safe. The destructor comes after all other calls.
// - Order: what came before submit() happens before the request's system calls. Two requests for
//   one file (the same path or OpenFile) keep their order of submission if one of them changes the
//   whole file; ranges have no order (docs/guide/files.md).
// - Durable: a durable request ends after an fsync of the file, and of its directory if the name is
//   new. If an fsync fails, all later durable requests for that OpenFile fail with the same error.
// - Errors: the result says what failed, in which file, at which offset (FileFailure). The engine
//   completes short transfers and interrupted calls. If `replace` or `copy` cannot write a new file
//   whole, they remove it, and the old file stays as it was.
// - Paths: the engine opens no special file. With `beneath` no path and no link leaves that folder.
// - Rights: `replace`, and `copy` over a file, keep mode, owner, access list and `user.`
//   attributes, or fail. At no moment does anybody get more rights (docs/guide/files.md).
// - Blocks: wait() and close(); submit() and post() while full, with OnFull::wait, and with
//   FileBackend::caller for as long as the request takes.
// - Callbacks run on the thread that ended the request, which may be the caller. They must not
//   throw and should be short. They may submit: then a full engine accepts one more. In a callback
//   close() and wait() are misuse, and a wait for another request of this engine may never end.
// - Allocates: one node a request, and FileResult::data(). After std::bad_alloc nothing was
//   accepted.
// - Closing: a request that may not begin any more has a result with ECANCELED, or with ETIME.
// - Exceptions: a failed system call is in the FileResult. The constructor throws std::system_error
//   if a thread, or with FileBackend::io_uring the ring, cannot be had.
//
// Which backend for what: docs/guide/files.md. How it works: docs/design/file_engine.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/file/file_engine_options.hpp>
#include <handoff/file/file_request.hpp>
#include <handoff/file/file_result.hpp>
#include <handoff/file/open_file.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileCore;
}  // namespace detail

// What one says of a request beside its contents; the same names as in FileRequest.
struct FileSyncOptions {
  bool durable = false;
};
struct FileWriteOptions {
  std::uint64_t offset = 0;
  bool durable = false;
  bool truncate = true;  // the file ends behind what is written; false: an overwrite in place
  bool preallocate = false;
  bool direct = false;
  std::uint32_t mode = 0666;
};
struct FileReplaceOptions {
  bool durable = false;
  bool direct = false;
  std::uint32_t mode = 0666;
};

class FileEngine {
 public:
  // What is called with a result.
  using Callback = UniqueFunction<void(FileResult&&)>;

  // Starts threads, or a ring, if the backend needs them. Throws std::system_error.
  explicit FileEngine(FileEngineOptions options = {});
  ~FileEngine();  // close(Closing::finish)
  FileEngine(const FileEngine&) = delete;
  FileEngine& operator=(const FileEngine&) = delete;

  // Hands it over. Throws NotRun if refused: closed; full with OnFull::reject; timed_out or stopped
  // while it waited for room.
  Future<FileResult> submit(FileRequest request);
  // The same with a function that is called with the result, exactly once if this says ok. Else the
  // request and the function are still the caller's. `full` only with OnFull::reject, timed_out and
  // stopped only as `until` says.
  Status post(FileRequest&& request, Callback&& callback, const Until& until = {});
  // Never waits for room: `full`.
  Status try_post(FileRequest&& request, Callback&& callback);

  // Whole files.
  Future<FileResult> read(std::string path);
  Future<FileResult> read(std::string path, std::span<std::byte> into, std::uint64_t offset = 0);
  Future<FileResult> write(std::string path, std::span<const std::byte> bytes,
                           const FileWriteOptions& options = {});
  Future<FileResult> replace(std::string path, std::span<const std::byte> bytes,
                             const FileReplaceOptions& options = {});
  Future<FileResult> append(std::string path, std::span<const std::byte> bytes,
                            const FileSyncOptions& options = {});
  Future<FileResult> copy(std::string from, std::string to, const FileSyncOptions& options = {});
  Future<FileResult> remove(std::string path, const FileSyncOptions& options = {});
  Future<FileResult> stat(std::string path);
  Future<FileResult> sync(std::string path);

  // Ranges of an open one.
  Future<FileResult> read(const OpenFile& file, std::span<std::byte> into, std::uint64_t offset);
  Future<FileResult> write(const OpenFile& file, std::span<const std::byte> bytes,
                           std::uint64_t offset, const FileSyncOptions& options = {});
  Future<FileResult> sync(const OpenFile& file);

  // Until all requests accepted before have ended. ok, timed_out or stopped.
  Status wait(const Until& until = {});

  // See the head comment. A second call waits for the first and returns the same.
  Tally close(Closing how = Closing::finish);

  // Exact at rest; racy by name otherwise.
  [[nodiscard]] Tally tally() const noexcept;
  // How many requests were refused.
  [[nodiscard]] std::uint64_t refused() const noexcept;
  // How it works at the moment, and why.
  [[nodiscard]] FileChoice choice() const;

 private:
  std::unique_ptr<detail::FileCore> core_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
