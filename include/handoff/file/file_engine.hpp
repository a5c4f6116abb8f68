// SPDX-License-Identifier: MIT
//
// Files read and written in parallel: by threads, by the kernel's io_uring or by the caller. Every
// request ends in a result that is honest about errors.
//
//   handoff::FileEngine files;
//   auto saved = files.write("a.bin", bytes, {.durable = true});  // a Future<FileResult>
//   auto text = files.read("b.txt").get().data();                 // whole
//   saved.get().check();                                          // throws std::system_error
//   files.replace("c.json", json, {.durable = true}).get().check();  // old or new, no mixture
//   (void)files.post(std::move(request), [](handoff::FileResult result) { ... });
//
// For: many files, large files, many ranges of one, and durable writes. Not for: a log of records
// (AppendLog), trees of files (copy_tree), memory that maps a file.
//
// Contract: executor tier.
// - Concurrency: thread-safe. The destructor comes last.
// - Order: what came before submit() happens before the request's calls. Requests for different
//   files have no order. Those that name one path (written the same way, or one OpenFile) run in
//   the order of submission as far as one of them writes: a whole-file request, a write that
//   truncates, an append, remove and copy wait for all before them; reads and writes of ranges only
//   for those that waited so, and for a barrier. A sync covers what ended before it began, and what
//   was submitted before it. Appends never interleave.
// - Durable: the request ends after fsync (of the directory too, where a name is new). So does a
//   sync, of the directory too if it is by path: a name that OpenFile made is durable after that.
//   One fsync serves all that wait for one file. After an fsync that failed, the data counts as
//   lost: every later durable request for that OpenFile fails with the same error; nothing is tried
//   again. A file system that syncs no directories (EINVAL) is taken as it is.
// - Errors: the result says what, where and at which offset (FileFailure). Short transfers and
//   interrupted calls are completed; ENOSPC, EDQUOT, EIO are final. A new file that could not be
//   written whole by `replace` or `copy` is removed; the old one stays as it was.
// - Rights: `replace`, and `copy` over a file, keep its mode, owner, access list and `user.`
//   attributes, or fail: attributes that cannot be kept are an error. Only an owner or group that
//   may not be given is left out, and what it would widen with it: set-ID bits; for another group
//   all that others do not have. A copy under a new name has of FileRequest::mode what the source
//   allows both its group and others. At no moment anybody gets more.
// - Paths: no special file is opened; with `beneath`, no path leaves that directory, and no link
//   leads out of it (openat2).
// - Blocks: submit() and post() while full, with OnFull::wait; with FileBackend::caller, as long as
//   the request takes. try_post() never waits for room. close().
// - Callbacks run on the thread that ended the request: of the engine, or the caller. They must not
//   throw and should be short; they may submit. There, a full engine does not wait: it accepts one
//   more (OnFull::wait acts as `grow`). close() and wait() there are misuse; waiting there for
//   another request of the engine may last for ever.
// - Allocates: one node a request, and what FileResult::data() holds.
// - Full: more than `capacity` requests: OnFull says: `wait` (the default), `reject`, `run_here`.
// - Closed: submit() throws NotRun, post() says `closed`.
// - Closing: finish ends all; finish_until what can begin until then; abandon nothing more. What
//   has begun is ended. What does not begin has a result with ECANCELED, or ETIME. Returns the
//   exact Tally.
// - Exceptions: system calls never throw here, they end in a FileResult. submit() and post() throw
//   std::bad_alloc, submit() NotRun; nothing was accepted then. The constructor throws
//   std::system_error if a thread or (with FileBackend::io_uring) a ring cannot be had.
// - fork(): the child must not use the engine; in it the destructor does nothing.
//
// How it works: docs/design/file_engine.md. Which backend for what: docs/guide/files.md.
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
  Tally close(Closing how = Closing::finish) noexcept;

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
