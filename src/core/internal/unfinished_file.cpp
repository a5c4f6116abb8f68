// SPDX-License-Identifier: MIT
#include "unfinished_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <system_error>

#include "../../sync/internal/file_limit.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr unsigned kMostAtOnce = 1000;  // that write for one path

bool is_locked_by_others(int file) noexcept {
  // Where there are no locks all is as if there were no other.
  return ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

[[gnu::cold]] int UnfinishedFile::open() {
  const std::string first = path_.native() + ".unfinished";
  for (unsigned others = 0; others < kMostAtOnce; ++others) {
    name_ = others == 0 ? first : first + "." + std::to_string(others);
    bool is_made = false;
    if (const int error = make(is_made); error != 0 || is_made) return error;
  }
  return EBUSY;
}

// Neither made nor an error: somebody else has this name.
int UnfinishedFile::make(bool& is_made) {
  constexpr mode_t usual = 0644;
  for (;;) {
    Descriptor file(
        descriptors::of_file(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, usual));
    if (!file.is_open()) {
      if (errno != EEXIST) return errno;
      if (!remove_left_behind()) return 0;
      continue;
    }
    // Before it had its lock it looked like one that was left behind.
    if (is_locked_by_others(file.get())) return 0;
    if (!is_named(file.get())) continue;
    file_ = Descriptor(descriptors::copy_of(file.get()));
    const int error = file_.is_open() ? 0 : errno;
    lock_ = std::move(file);
    if (error != 0) remove();
    is_made = error == 0;
    return error;
  }
}

bool UnfinishedFile::remove_left_behind() noexcept {
  // O_NONBLOCK: not to wait for the other end of a FIFO.
  const Descriptor file(descriptors::of_file(name_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return errno == ENOENT;
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  return !is_named(file.get()) || ::unlink(name_.c_str()) == 0 || errno == ENOENT;
}

// Whether the name is still this file's.
bool UnfinishedFile::is_named(int file) const noexcept {
  struct stat opened{};
  struct stat named{};
  return ::fstat(file, &opened) == 0 && ::lstat(name_.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int UnfinishedFile::write(std::span<const std::byte> bytes) noexcept {
  return write_fully(file_.get(), bytes, written_);
}

int UnfinishedFile::finish() noexcept {
  // Some file systems say only now what went wrong, so the name comes after it.
  std::error_code moved;
  const int closed = file_.close();
  if (closed == 0) std::filesystem::rename(name_, path_, moved);
  if (closed != 0 || moved) remove();
  else release();
  return closed != 0 ? closed : moved.value();
}

void UnfinishedFile::release() noexcept {
  if (!lock_.is_open()) return;
  ::flock(lock_.get(), LOCK_UN);  // a child that was forked may have the file still
  lock_.close();
}

void UnfinishedFile::remove() noexcept {
  if (lock_.is_open()) ::unlink(name_.c_str());
  release();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
