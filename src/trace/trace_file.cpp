// SPDX-License-Identifier: MIT
//
// A pipe is opened and written without blocking: one that nobody reads is no trace, and one that is
// not read any more ends it. The lock that says that a process traces into a file is the file's own
// (flock): it ends with the process, however that ends.
#include "trace_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <span>

#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/file_limit.hpp"
#include "../sync/internal/joined.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

namespace {

constexpr int kPatience = 10'000;  // milliseconds, until a pipe that is full has been read
constexpr mode_t kMode = 0666;  // less what the user's mask takes

std::string with_process(std::string path) {
  constexpr std::string_view mark = "%p";
  const std::string process = std::to_string(::getpid());
  for (std::size_t at = path.find(mark); at != std::string::npos;
       at = path.find(mark, at + process.size())) {
    path.replace(at, mark.size(), process);
  }
  return path;
}

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

bool is_plain(int file) noexcept {
  struct stat status{};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

// Pipes and devices are for any number. Where there are no locks all is as if there were no other.
int open_locked(const std::string& path, bool& is_taken) noexcept {
  constexpr int how = O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK;
  const int file = detail::descriptors::of_file(path.c_str(), how, kMode);
  is_taken =
      file >= 0 && is_plain(file) && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return file;
}

}  // namespace

void TraceFile::close() noexcept {
  if (file_ < 0) return;
  ::flock(file_, LOCK_UN);  // a child that was forked may have the file still
  forget();
}

void TraceFile::forget() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

[[gnu::cold]] std::error_code TraceFile::open(const std::string& path) {
  if (path.find('\0') != path.npos) return std::make_error_code(std::errc::invalid_argument);
  bool is_taken = false;
  const std::string own = with_process(path);
  file_ = open_locked(own, is_taken);
  if (is_taken) {
    forget();
    file_ = open_locked(sync::joined({own, ".", std::to_string(::getpid())}), is_taken);
  }
  if (file_ < 0) return last_error();
  if (is_plain(file_) && ::ftruncate(file_, 0) != 0) return last_error();
  return {};
}

std::error_code TraceFile::write(std::string_view text) noexcept {
  auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  for (;;) {
    const std::uint64_t before = written_;
    const int error = detail::write_fully(file_, bytes, written_);
    if (error != EAGAIN) return {error, std::generic_category()};
    if (!detail::descriptors::is_ready(file_, kPatience, POLLOUT)) {
      return std::make_error_code(std::errc::timed_out);
    }
    bytes = bytes.subspan(written_ - before);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::trace
