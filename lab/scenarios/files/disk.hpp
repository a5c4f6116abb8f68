// SPDX-License-Identifier: MIT
// What is done around the timed part: files made, looked at, forgotten by the page cache, removed.
#pragma once

#include "scenarios/files/contender.hpp"

namespace handoff::lab::files {

// A descriptor that closes itself.
class Descriptor : Pinned {
 public:
  // Throws with the path where it cannot be opened.
  Descriptor(const std::string& path, int flags, unsigned mode = 0644);
  ~Descriptor();
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// Throws std::runtime_error: what, on which path, and the system's reason.
[[noreturn]] void fail(const char* call, const std::string& path, int error);

// Whole blocks by system calls. read_up_to() says how many bytes there were before the end of the
// file; to read_at() an end is a failure.
inline void write_at(int descriptor, std::span<const std::byte> from, std::uint64_t offset,
                     const std::string& path) {
  while (!from.empty()) {
    const ssize_t n = pwrite(descriptor, from.data(), from.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("writing", path, errno);
    from = from.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}
inline std::size_t read_up_to(int descriptor, std::span<std::byte> into, std::uint64_t offset,
                              const std::string& path) {
  std::size_t had = 0;
  while (had < into.size()) {
    const ssize_t n =
        pread(descriptor, into.data() + had, into.size() - had, static_cast<off_t>(offset + had));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("reading", path, errno);
    if (n == 0) break;
    had += static_cast<std::size_t>(n);
  }
  return had;
}
inline void read_at(int descriptor, std::span<std::byte> into, std::uint64_t offset,
                    const std::string& path) {
  if (read_up_to(descriptor, into, offset, path) < into.size()) fail("reading", path, ENODATA);
}

// A folder that is removed with all it holds.
class TemporaryFolder : Pinned {
 public:
  explicit TemporaryFolder(std::string path);
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// New folders in this one lie far apart on the device, where the file system can do that. ext4
// without a journal does not use an inode again for some minutes after its file was removed, and
// looks through all of these nearby at each new file: a contender that comes later would pay for
// those before.
void keep_apart(const std::string& folder);

// Bytes that are free for this user.
std::uint64_t room_in(const std::string& folder);

// Throws Unavailable where there is less room than that, and some to spare.
void ask_for_room(const std::string& folder, std::uint64_t bytes);

std::vector<std::string> numbered(const std::string& folder, std::size_t files);

// Files of sectors of this generation, durable. Their folder appears when all are there.
void make_files(const std::string& folder, std::size_t files, std::uint64_t bytes,
                std::uint64_t generation);

void remove_files(const std::vector<std::string>& paths);

// All of each file, against what it must be; `way` says how it writes.
void look_at_files(const Way& way, const Transfer& transfer);

// Forgets what the page cache has of these files. Throws where that does not work: then nothing
// that is called cold is.
void drop(const std::vector<std::string>& paths);
// Which share of the bytes is cached.
double cached_share(const std::vector<std::string>& paths);
void read_all(const std::vector<std::string>& paths);

// Waits for all that is under way in the file system of this path.
void settle(const std::string& path);

}  // namespace handoff::lab::files
