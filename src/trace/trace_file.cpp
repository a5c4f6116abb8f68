// SPDX-License-Identifier: MIT
//
// A pipe is opened and written without blocking: one that nobody reads is no trace, and one that is
// not read any more ends it. The lock that says that a process traces into a file is the file's own
// (flock): it ends with the process, however that ends.
#include "trace_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

namespace {

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

// Not one of the three that a program prints into, whether they are open or not.
int above_streams(int file) noexcept {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int above = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int why = errno;
  ::close(file);
  errno = why;
  return above;
}

// Pipes and devices are for any number. Where there are no locks all is as if there were no other.
int open_locked(const std::string& path, bool& is_taken) noexcept {
  constexpr int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int file = above_streams(::open(path.c_str(), how, kMode));
  is_taken =
      file >= 0 && is_plain(file) && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return file;
}

// Whether a pipe has room again, before who reads it has had long enough.
bool has_room(int file) noexcept {
  constexpr int patience_ms = 10'000;
  pollfd asked{file, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&asked, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

void TraceFile::close() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

std::error_code TraceFile::open(const std::string& path) {
  bool is_taken = false;
  const std::string own = with_process(path);
  file_ = open_locked(own, is_taken);
  if (is_taken) {
    ::close(file_);
    file_ = open_locked(own + "." + std::to_string(::getpid()), is_taken);
  }
  if (file_ < 0) return last_error();
  if (is_plain(file_) && ::ftruncate(file_, 0) != 0) return last_error();
  return {};
}

std::error_code TraceFile::write(std::string_view text) const noexcept {
  while (!text.empty()) {
    const ssize_t wrote = ::write(file_, text.data(), text.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return last_error();
      if (!has_room(file_)) return std::make_error_code(std::errc::timed_out);
      continue;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

}}}  // namespace handoff::HANDOFF_ABI::trace
