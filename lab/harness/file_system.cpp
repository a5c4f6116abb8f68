// SPDX-License-Identifier: MIT
#include "harness/file_system.hpp"

#include <linux/magic.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "handoff-files.";

// Of the file system; 0 where that cannot be known.
auto magic_of(const std::string& folder) {
  struct statfs system{};
  return statfs(folder.c_str(), &system) == 0 ? system.f_type : 0;
}

bool is_in_memory(const std::string& folder) {
  const auto magic = magic_of(folder);
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

// In a chroot the mount table does not have what its root lies on. Empty: another one.
std::string kind_by_magic(const std::string& folder) {
  switch (magic_of(folder)) {
    case EXT4_SUPER_MAGIC: return "ext4";  // and its forerunners
    case XFS_SUPER_MAGIC: return "xfs";
    case BTRFS_SUPER_MAGIC: return "btrfs";
    case OVERLAYFS_SUPER_MAGIC: return "overlay";
    case TMPFS_MAGIC: return "tmpfs";
    default: return {};
  }
}

// The line of the mount table with this device; the last one of a place is the one that is seen.
std::string kind_of(const struct stat& status) {
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  std::string found;
  for (std::string line; std::getline(mounts, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos || line.find(' ' + device + ' ') == std::string::npos) continue;
    const std::string rest = line.substr(dash + 3);
    found = rest.substr(0, rest.find(' '));
  }
  return found;
}

// A partition's facts are those of its disk.
void add_device(FileSystem& system, const struct stat& status) {
  std::error_code none;
  const fs::path link =
      fmt::format("/sys/dev/block/{}:{}", major(status.st_dev), minor(status.st_dev));
  const fs::path path = fs::canonical(link, none);
  if (none) return;
  const fs::path disk = fs::exists(path / "partition") ? path.parent_path() : path;
  system.device = path.filename().string();
  if (const auto turns = first_line(disk / "queue/rotational")) system.rotational = turns == "1";
  system.write_cache = first_line(disk / "queue/write_cache").value_or("");
  const std::string model = first_line(disk / "device/model").value_or("");
  system.model = model.substr(0, model.find_last_not_of(' ') + 1);
}

void remove_abandoned(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path& path = entry.path();
    if (!path.filename().string().starts_with(kPrefix)) continue;
    const int lock = open((path / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
    close(lock);
  }
}

}  // namespace

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? std::optional(line) : std::nullopt;
}

std::string folder_for_files() {
  std::vector<std::string> candidates;
  if (const char* set = std::getenv("TMPDIR"); set != nullptr && *set != 0) {
    candidates.emplace_back(set);
  }
  std::error_code none;
  candidates.push_back(fs::current_path(none).string());
  candidates.emplace_back("/var/tmp");
  candidates.emplace_back("/tmp");
  std::string in_memory;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || access(candidate.c_str(), W_OK | X_OK) != 0) continue;
    if (!is_in_memory(candidate)) return fs::absolute(candidate).string();
    if (in_memory.empty()) in_memory = fs::absolute(candidate).string();
  }
  return in_memory;
}

FileSystem file_system_of(const std::string& folder) {
  struct stat status{};
  if (folder.empty() || stat(folder.c_str(), &status) != 0) return {};
  FileSystem found;
  found.kind = kind_of(status);
  if (found.kind.empty()) found.kind = kind_by_magic(folder);
  add_device(found, status);
  struct statfs system{};
  if (statfs(folder.c_str(), &system) == 0) {
    found.free_bytes =
        static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  }
  return found;
}

RunFolder::RunFolder() {
  const std::string parent = folder_for_files();
  if (parent.empty()) {
    throw UserError("no folder can be written: set TMPDIR to one that can");
  }
  remove_abandoned(parent);
  std::string path = fmt::format("{}/{}XXXXXX", parent, kPrefix);
  if (mkdtemp(path.data()) == nullptr) {
    throw UserError("{} takes no folder: {}", parent, std::strerror(errno));
  }
  path_ = path;
  lock_ = open((path_ + "/lock").c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace handoff::lab
