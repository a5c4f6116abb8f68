// SPDX-License-Identifier: MIT
//
// The engine's calls: each makes a request.
#include <handoff/core/misuse.hpp>
#include <handoff/file/file_engine.hpp>
#include <utility>

#include "file_core.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

const OpenFile& checked(const OpenFile& file) {
  if (!file.valid()) misuse("FileEngine: an empty OpenFile was named; see OpenFile::open()");
  return file;
}

}  // namespace

FileEngine::FileEngine(FileEngineOptions options)
    : core_(std::make_unique<detail::FileCore>(std::move(options))) {}
FileEngine::~FileEngine() {
  if (!core_->is_here()) static_cast<void>(core_.release());
}

Future<FileResult> FileEngine::submit(FileRequest request) {
  return core_->submit(std::move(request));
}
Status FileEngine::post(FileRequest&& request, Callback&& callback, const Until& until) {
  return core_->post(request, callback, until, true);
}
Status FileEngine::try_post(FileRequest&& request, Callback&& callback) {
  return core_->post(request, callback, {}, false);
}

Future<FileResult> FileEngine::read(std::string path) {
  return submit({.operation = FileOperation::read, .path = std::move(path)});
}
Future<FileResult> FileEngine::read(std::string path, std::span<std::byte> into,
                                    std::uint64_t offset) {
  return submit(
      {.operation = FileOperation::read, .path = std::move(path), .offset = offset, .into = into});
}
Future<FileResult> FileEngine::write(std::string path, std::span<const std::byte> bytes,
                                     const FileWriteOptions& options) {
  return submit({.operation = FileOperation::write,
                 .path = std::move(path),
                 .offset = options.offset,
                 .from = bytes,
                 .durable = options.durable,
                 .truncate = options.truncate,
                 .preallocate = options.preallocate,
                 .direct = options.direct,
                 .mode = options.mode});
}
Future<FileResult> FileEngine::replace(std::string path, std::span<const std::byte> bytes,
                                       const FileReplaceOptions& options) {
  return submit({.operation = FileOperation::replace,
                 .path = std::move(path),
                 .from = bytes,
                 .durable = options.durable,
                 .direct = options.direct,
                 .mode = options.mode});
}
Future<FileResult> FileEngine::append(std::string path, std::span<const std::byte> bytes,
                                      const FileSyncOptions& options) {
  return submit({.operation = FileOperation::append,
                 .path = std::move(path),
                 .from = bytes,
                 .durable = options.durable});
}
Future<FileResult> FileEngine::copy(std::string from, std::string to,
                                    const FileSyncOptions& options) {
  return submit({.operation = FileOperation::copy,
                 .path = std::move(from),
                 .to = std::move(to),
                 .durable = options.durable,
                 .mode = 0777});  // what the source allows
}
Future<FileResult> FileEngine::remove(std::string path, const FileSyncOptions& options) {
  return submit(
      {.operation = FileOperation::remove, .path = std::move(path), .durable = options.durable});
}
Future<FileResult> FileEngine::stat(std::string path) {
  return submit({.operation = FileOperation::stat, .path = std::move(path)});
}
Future<FileResult> FileEngine::sync(std::string path) {
  return submit({.operation = FileOperation::sync, .path = std::move(path)});
}

Future<FileResult> FileEngine::read(const OpenFile& file, std::span<std::byte> into,
                                    std::uint64_t offset) {
  return submit(
      {.operation = FileOperation::read, .file = checked(file), .offset = offset, .into = into});
}
Future<FileResult> FileEngine::write(const OpenFile& file, std::span<const std::byte> bytes,
                                     std::uint64_t offset, const FileSyncOptions& options) {
  return submit({.operation = FileOperation::write,
                 .file = checked(file),
                 .offset = offset,
                 .from = bytes,
                 .durable = options.durable});
}
Future<FileResult> FileEngine::sync(const OpenFile& file) {
  return submit({.operation = FileOperation::sync, .file = checked(file)});
}

Status FileEngine::wait(const Until& until) { return core_->wait(until); }
Tally FileEngine::close(Closing how) { return core_->close(how); }
Tally FileEngine::tally() const noexcept { return core_->tally(); }
std::uint64_t FileEngine::refused() const noexcept { return core_->refused(); }
FileChoice FileEngine::choice() const { return core_->choice(); }

}}  // namespace handoff::HANDOFF_ABI
