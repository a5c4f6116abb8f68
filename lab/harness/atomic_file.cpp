// SPDX-License-Identifier: MIT
#include "harness/atomic_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const char* why) {
  throw UserError(fmt::format("{}: cannot be written: {}", path.string(), why));
}

// A file that disappears with this object, unless it was kept.
class Temporary {
 public:
  explicit Temporary(const fs::path& target)
      : target_(fs::is_symlink(target) ? fs::weakly_canonical(target) : target),
        path_(target_.string() + fmt::format(".{}.tmp", getpid())),
        descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) refuse(target, std::strerror(errno));
  }
  ~Temporary() {
    close(descriptor_);
    if (!kept_) unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  void keep() {
    if (fsync(descriptor_) != 0 || rename(path_.c_str(), target_.c_str()) != 0) {
      refuse(target_, std::strerror(errno));
    }
    kept_ = true;
  }

 private:
  fs::path target_;
  fs::path path_;
  int descriptor_;
  bool kept_ = false;
};

bool is_device_or_pipe(const fs::path& path) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  return type == fs::file_type::character || type == fs::file_type::fifo;
}

void write_all(int descriptor, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(path, std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace

void require_writable(const fs::path& path) {
  if (path.empty()) refuse("''", "no name was given");
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  if (fs::is_directory(path, ignored)) refuse(path, "it is a folder");
  if (!is_device_or_pipe(path)) Temporary probe(path);
}

void write_atomically(const fs::path& path, const std::vector<std::span<const std::byte>>& parts) {
  if (is_device_or_pipe(path)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) refuse(path, std::strerror(errno));
    for (const auto part : parts) write_all(descriptor, part, path);
    close(descriptor);
    return;
  }
  Temporary file(path);
  for (const auto part : parts) write_all(file.descriptor(), part, path);
  file.keep();
}

void write_atomically(const fs::path& path, std::string_view text) {
  write_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace handoff::lab
