// SPDX-License-Identifier: MIT
#include "harness/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const char* why) {
  throw UserError(fmt::format("{}: cannot be written: {}", path.string(), why));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// Where a link leads, though nothing may be there yet; nowhere, where it leads to itself.
fs::path target_of(fs::path path) {
  constexpr int most_links = 40;  // as the kernel follows
  for (int links = 0; links <= most_links; ++links) {
    std::error_code none;
    const fs::path next = fs::read_symlink(path, none);
    if (none) return path;
    path = path.parent_path() / next;  // which is `next` if that is absolute
  }
  return {};
}

// Nobody may do more with the new file than with the old one: its owner and group, its access list,
// else its mode. What cannot be had is left out.
void take_access_of(const struct stat& old, const fs::path& path, int file) {
  constexpr const char* list = "system.posix_acl_access";
  struct stat made{};
  const bool known = fstat(file, &made) == 0;
  const bool same_group = (known && made.st_uid == old.st_uid && made.st_gid == old.st_gid) ||
                          fchown(file, old.st_uid, old.st_gid) == 0 ||
                          fchown(file, static_cast<uid_t>(-1), old.st_gid) == 0;
  mode_t mode = old.st_mode & 0777U;
  char entries[1 << 12];
  const ssize_t bytes = getxattr(path.c_str(), list, entries, sizeof entries);
  const bool has_list = bytes >= 0 || errno == ERANGE;
  if (bytes >= 0 && same_group &&
      fsetxattr(file, list, entries, static_cast<std::size_t>(bytes), 0) == 0) {
    return;
  }
  // The bits of the group are its own only where there is no list.
  if (has_list || !same_group) mode &= ~070U;
  static_cast<void>(fchmod(file, mode));
}

// A file that disappears with this object, unless it was kept. Its name is short, however long that
// of the target is.
class Temporary {
 public:
  explicit Temporary(const fs::path& target)
      : target_(target_of(target)),
        path_(target_.parent_path() / fmt::format(".handoff.{}.tmp", getpid())),
        descriptor_(make()) {}
  ~Temporary() {
    if (descriptor_.is_open() && !kept_) unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] bool is_there() const { return descriptor_.is_open(); }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // False, and errno: it cannot take the target's place.
  [[nodiscard]] bool keep() {
    kept_ = fsync(descriptor()) == 0 && rename(path_.c_str(), target_.c_str()) == 0;
    return kept_;
  }

 private:
  [[nodiscard]] Descriptor make() const {
    if (target_.empty()) {
      errno = ELOOP;
      return Descriptor(-1);
    }
    struct stat old{};
    const bool replaces = stat(target_.c_str(), &old) == 0;
    const mode_t mode = replaces ? 0600 : 0666;
    Descriptor made(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (made.is_open() && replaces) take_access_of(old, target_, made.get());
    return made;
  }

  fs::path target_;
  fs::path path_;
  Descriptor descriptor_;
  bool kept_ = false;
};

bool is_device_or_pipe(const fs::path& path) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  return type == fs::file_type::character || type == fs::file_type::fifo;
}

using Parts = std::vector<std::span<const std::byte>>;

void write_all(int descriptor, const Parts& parts, const fs::path& path) {
  for (std::span<const std::byte> bytes : parts) {
    while (!bytes.empty()) {
      const ssize_t n = write(descriptor, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse(path, std::strerror(errno));
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
}

void write_in_place(const fs::path& path, const Parts& parts) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.is_open()) refuse(path, std::strerror(errno));
  write_all(file.get(), parts, path);
}

// Beside it nothing can be made, or nothing can take its place: a file that is mounted by itself,
// or one in a folder of somebody else's.
bool can_be_written_in_place(const fs::path& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown) && access(path.c_str(), W_OK) == 0;
}

}  // namespace

void require_writable(const fs::path& path) {
  if (path.empty()) refuse("''", "no name was given");
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  if (fs::is_directory(path, ignored)) refuse(path, "it is a folder");
  if (is_device_or_pipe(path)) return;
  const bool is_there = Temporary(path).is_there();
  const int why = errno;
  if (!is_there && !can_be_written_in_place(path)) refuse(path, std::strerror(why));
}

void write_atomically(const fs::path& path, const Parts& parts) {
  if (is_device_or_pipe(path)) return write_in_place(path, parts);
  {
    Temporary file(path);
    if (file.is_there()) {
      write_all(file.descriptor(), parts, path);
      if (file.keep()) return;
    }
    const int why = errno;
    const bool is_held = !file.is_there() || why == EBUSY;
    if (!is_held || !can_be_written_in_place(path)) refuse(path, std::strerror(why));
  }
  write_in_place(path, parts);
}

void write_atomically(const fs::path& path, std::string_view text) {
  write_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace handoff::lab
