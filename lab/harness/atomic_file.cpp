// SPDX-License-Identifier: MIT
#include "harness/atomic_file.hpp"

#include <handoff/file/file_engine.hpp>

#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const char* why) {
  throw UserError("{}: cannot be written: {}", path.string(), why);
}
[[noreturn]] void refuse(const fs::path& path, int why) { refuse(path, std::strerror(why)); }

// Where a link leads, though nothing may be there yet.
fs::path target_of(const fs::path& path) {
  constexpr int most_links = 40;  // as the kernel follows
  fs::path target = path;
  for (int links = 0; links <= most_links; ++links) {
    std::error_code none;
    const fs::path next = fs::read_symlink(target, none);
    if (none) return target;
    target = target.parent_path() / next;  // which is `next` if that is absolute
  }
  refuse(path, ELOOP);
}

bool is_device_or_pipe(const fs::path& path) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  return type == fs::file_type::character || type == fs::file_type::fifo;
}

using Parts = std::vector<std::span<const std::byte>>;

void write_in_place(const fs::path& path, const Parts& parts) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) refuse(path, errno);
  int why = 0;
  for (const std::span<const std::byte> part : parts) {
    if (why == 0 && std::fwrite(part.data(), 1, part.size(), file) != part.size()) why = errno;
  }
  if (std::fclose(file) != 0 && why == 0) why = errno;
  if (why != 0) refuse(path, why);
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
  std::string beside = (target_of(path).parent_path() / ".handoff.XXXXXX").string();
  const int made = mkstemp(beside.data());
  const int why = errno;
  if (made < 0 && !can_be_written_in_place(path)) refuse(path, why);
  if (made < 0) return;
  close(made);
  unlink(beside.c_str());
}

void write_atomically(const fs::path& path, const Parts& parts) {
  if (is_device_or_pipe(path)) return write_in_place(path, parts);
  FileEngine files({.backend = FileBackend::caller});
  FileRequest request{.operation = FileOperation::replace, .path = target_of(path).string()};
  request.from = FileMemory<const std::byte>(parts);
  request.durable = true;
  const int why = files.submit(std::move(request)).get().failure().error;
  if (why == 0) return;
  const bool is_held = why == EACCES || why == EPERM || why == EROFS || why == EBUSY;
  if (!is_held || !can_be_written_in_place(path)) refuse(path, why);
  write_in_place(path, parts);
}

void write_atomically(const fs::path& path, std::string_view text) {
  write_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace handoff::lab
