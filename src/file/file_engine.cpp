// SPDX-License-Identifier: MIT
//
// The engine's calls: each makes a request.
#include <handoff/core/misuse.hpp>
#include <handoff/file/file_engine.hpp>
#include <utility>

#include "file_core.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

FileRequest of_file(const OpenFile& file, FileOperation operation) {
  if (!file.valid()) misuse("FileEngine: an empty OpenFile was named; see OpenFile::open()");
  FileRequest request;
  request.operation = operation;
  request.file = file;
  return request;
}

FileRequest of_path(std::string&& path, FileOperation operation) {
  FileRequest request;
  request.operation = operation;
  request.path = std::move(path);
  return request;
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
  return submit(of_path(std::move(path), FileOperation::read));
}
Future<FileResult> FileEngine::read(std::string path, std::span<std::byte> into,
                                    std::uint64_t offset) {
  FileRequest request = of_path(std::move(path), FileOperation::read);
  request.into = into;
  request.offset = offset;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::write(std::string path, std::span<const std::byte> bytes,
                                     const FileWriteOptions& options) {
  FileRequest request = of_path(std::move(path), FileOperation::write);
  request.from = bytes;
  request.offset = options.offset;
  request.durable = options.durable;
  request.truncate = options.truncate;
  request.preallocate = options.preallocate;
  request.direct = options.direct;
  request.mode = options.mode;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::replace(std::string path, std::span<const std::byte> bytes,
                                       const FileReplaceOptions& options) {
  FileRequest request = of_path(std::move(path), FileOperation::replace);
  request.from = bytes;
  request.durable = options.durable;
  request.direct = options.direct;
  request.mode = options.mode;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::append(std::string path, std::span<const std::byte> bytes,
                                      const FileSyncOptions& options) {
  FileRequest request = of_path(std::move(path), FileOperation::append);
  request.from = bytes;
  request.durable = options.durable;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::copy(std::string from, std::string to,
                                    const FileSyncOptions& options) {
  FileRequest request = of_path(std::move(from), FileOperation::copy);
  request.to = std::move(to);
  request.durable = options.durable;
  request.mode = 0777;  // what the source allows
  return submit(std::move(request));
}
Future<FileResult> FileEngine::remove(std::string path, const FileSyncOptions& options) {
  FileRequest request = of_path(std::move(path), FileOperation::remove);
  request.durable = options.durable;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::stat(std::string path) {
  return submit(of_path(std::move(path), FileOperation::stat));
}
Future<FileResult> FileEngine::sync(std::string path) {
  return submit(of_path(std::move(path), FileOperation::sync));
}

Future<FileResult> FileEngine::read(const OpenFile& file, std::span<std::byte> into,
                                    std::uint64_t offset) {
  FileRequest request = of_file(file, FileOperation::read);
  request.into = into;
  request.offset = offset;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::write(const OpenFile& file, std::span<const std::byte> bytes,
                                     std::uint64_t offset, const FileSyncOptions& options) {
  FileRequest request = of_file(file, FileOperation::write);
  request.from = bytes;
  request.offset = offset;
  request.durable = options.durable;
  return submit(std::move(request));
}
Future<FileResult> FileEngine::sync(const OpenFile& file) {
  return submit(of_file(file, FileOperation::sync));
}

Status FileEngine::wait(const Until& until) { return core_->wait(until); }
Tally FileEngine::close(Closing how) { return core_->close(how); }
Tally FileEngine::tally() const noexcept { return core_->tally(); }
std::uint64_t FileEngine::refused() const noexcept { return core_->refused(); }
FileChoice FileEngine::choice() const { return core_->choice(); }

}}  // namespace handoff::HANDOFF_ABI
