// SPDX-License-Identifier: MIT
//
// Results and failures of requests.
#include <handoff/core/misuse.hpp>
#include <handoff/file/file_engine_options.hpp>
#include <handoff/file/file_result.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// system_error puts ": reason" behind it. An offset, where something was to be moved.
std::string text_without_reason(const FileFailure& failure) {
  const std::string_view call = failure.call;
  const bool opens = call.starts_with("open");
  const bool is_step = *failure.step != 0;
  std::string text = failure.owner;
  if (!failure.file.empty()) text += (text.empty() ? "" : " ") + detail::escaped(failure.file);
  if (!text.empty()) text += ": ";
  text += is_step ? failure.step : opens ? "open" : to_string(failure.operation);
  if (failure.offset == 0 || opens || (is_step && call.empty())) return text;
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

std::system_error FileFailure::exception() const {
  return detail::call_failed(error, text_without_reason(*this));
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
  if (!ok()) raise(failure_.exception());
}

}}  // namespace handoff::HANDOFF_ABI
