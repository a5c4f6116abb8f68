// SPDX-License-Identifier: MIT
//
// Results and failures of requests.
#include <handoff/core/misuse.hpp>
#include <handoff/file/file_engine_options.hpp>
#include <handoff/file/file_result.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// system_error puts ": reason" behind it.
std::string text_without_reason(const FileFailure& failure) {
  std::string text = detail::escaped(failure.file);
  text += text.empty() ? "" : ": ";
  if (*failure.step != 0) return text += failure.step;
  text += to_string(failure.operation);
  return text += " at " + std::to_string(failure.offset);
}

}  // namespace

const char* to_string(FileOperation operation) noexcept {
  switch (operation) {
    case FileOperation::read: return "read";
    case FileOperation::write: return "write";
    case FileOperation::append: return "append";
    case FileOperation::sync: return "sync";
    case FileOperation::replace: return "replace";
    case FileOperation::copy: return "copy";
    case FileOperation::remove: return "remove";
    case FileOperation::stat: break;
  }
  return "stat";
}

const char* to_string(FileBackend backend) noexcept {
  switch (backend) {
    case FileBackend::automatic: return "automatic";
    case FileBackend::caller: return "caller";
    case FileBackend::io_thread: return "io_thread";
    case FileBackend::pool: return "pool";
    case FileBackend::thread_per_request: return "thread_per_request";
    case FileBackend::io_uring: break;
  }
  return "io_uring";
}

std::string FileFailure::text() const {
  std::string text = text_without_reason(*this) + ": " + reason(error);
  if (further != 0) text += " (then: " + reason(further) + ")";
  return text;
}

FileError::FileError(const FileFailure& failure)
    : std::system_error(failure.error, std::generic_category(), text_without_reason(failure)),
      file_(failure.file),
      call_(failure.call),
      step_(failure.step),
      offset_(failure.offset),
      further_(failure.further),
      operation_(failure.operation) {}

FileFailure FileError::failure() const {
  return {.error = code().value(),
          .operation = operation_,
          .call = call_,
          .step = step_,
          .file = file_.what(),
          .offset = offset_,
          .further = further_};
}

std::uint64_t FileResult::bytes() const {
  check();
  return bytes_;
}
std::uint64_t FileResult::offset() const {
  check();
  return offset_;
}
std::vector<std::byte>& FileResult::data() {
  check();
  return data_;
}
const FileAttributes& FileResult::attributes() const {
  check();
  return attributes_;
}
void FileResult::check() const {
  if (!ok()) raise(FileError(failure_));
}

}}  // namespace handoff::HANDOFF_ABI
