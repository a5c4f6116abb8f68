// SPDX-License-Identifier: MIT
#include "scenarios/files/disk.hpp"

#include <filesystem>

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>

namespace handoff::lab::files {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

std::uint64_t length_of(int descriptor, const std::string& path) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) fail("looking at", path, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

std::uint64_t cached_bytes(const std::string& path, std::uint64_t& all) {
  const Descriptor file(path, O_RDONLY);
  const std::uint64_t bytes = length_of(file.number(), path);
  all += bytes;
  if (bytes == 0) return 0;
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.number(), 0);
  if (mapped == MAP_FAILED) fail("mapping", path, errno);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const int failed = mincore(mapped, bytes, pages.data());
  const int error = errno;
  munmap(mapped, bytes);
  if (failed != 0) fail("asking for the cached pages of", path, error);
  const auto there =
      std::count_if(pages.begin(), pages.end(), [](unsigned char one) { return (one & 1) != 0; });
  return static_cast<std::uint64_t>(there) * page;
}

void look_at_file(const Way& way, const Transfer& transfer, std::size_t number,
                  std::vector<std::byte>& buffer) {
  const std::string& path = transfer.paths[number];
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return transfer.report->wrong(Fault::missing, number, 0);
  close(opened);
  const Descriptor file(path, O_RDONLY);
  const std::uint64_t length = length_of(file.number(), path);
  if (length != transfer.bytes) {
    return transfer.report->wrong(Fault::length, number, length, transfer.bytes);
  }
  for (std::uint64_t at = 0; at < length; at += kPiece) {
    const std::span<std::byte> piece = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, length - at)));
    if (read_up_to(file.number(), piece, at, path) != piece.size()) {
      return transfer.report->wrong(Fault::length, number, at, transfer.bytes);
    }
    for (std::size_t sector = 0; sector < piece.size(); sector += kSector) {
      const auto one = piece.subspan(sector, std::min(kSector, piece.size() - sector));
      if (!way.writes_sectors()) {
        if (!way.is_own(one)) transfer.report->wrong(Fault::bytes, number, at + sector);
        continue;
      }
      const Found found = look_at(one, number, at + sector, transfer.generation);
      if (found.fault != Fault::none) transfer.report->wrong(found.fault, number, found.offset);
    }
    transfer.report->looked_at(piece.size() / kSector);
  }
}

}  // namespace

void fail(const char* call, const std::string& path, int error) {
  throw std::runtime_error(std::string(call) + ' ' + path + ": " + std::strerror(error));
}

Descriptor::Descriptor(const std::string& path, int flags, unsigned mode)
    : number_(open(path.c_str(), flags | O_CLOEXEC, mode)) {
  if (number_ < 0) fail("opening", path, errno);
}
Descriptor::~Descriptor() { close(number_); }

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {
  if (mkdir(path_.c_str(), 0755) != 0) fail("making", path_, errno);
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void keep_apart(const std::string& folder) {
  const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  int flags = 0;
  if (ioctl(opened.number(), FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_TOPDIR_FL;
  static_cast<void>(ioctl(opened.number(), FS_IOC_SETFLAGS, &flags));
}

std::uint64_t room_in(const std::string& folder) {
  struct statvfs room{};
  if (statvfs(folder.c_str(), &room) != 0) fail("looking for room in", folder, errno);
  return room.f_bavail * room.f_frsize;
}

void ask_for_room(const std::string& folder, std::uint64_t bytes) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  constexpr std::uint64_t spare = 64 * mib;
  const std::uint64_t free = room_in(folder);
  if (free < bytes + spare) {
    throw Unavailable("it needs " + std::to_string((bytes + spare) / mib) + " MiB in " + folder +
                      ", where " + std::to_string(free / mib) + " MiB are free");
  }
}

std::vector<std::string> numbered(const std::string& folder, std::size_t files) {
  std::vector<std::string> paths;
  paths.reserve(files);
  for (std::size_t i = 0; i < files; ++i) paths.push_back(folder + "/f" + std::to_string(i));
  return paths;
}

void make_files(const std::string& folder, std::size_t files, std::uint64_t bytes,
                std::uint64_t generation) {
  const std::string part = folder + ".part";
  std::filesystem::remove_all(part);
  std::filesystem::create_directory(part);
  const Buffers buffers(1, static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes)));
  const std::vector<std::string> paths = numbered(part, files);
  for (std::size_t number = 0; number < files; ++number) {
    const Descriptor file(paths[number], O_WRONLY | O_CREAT | O_EXCL);
    for (std::uint64_t at = 0; at < bytes; at += buffers.block()) {
      const auto piece = buffers[0].first(
          static_cast<std::size_t>(std::min<std::uint64_t>(buffers.block(), bytes - at)));
      stamp(piece, number, at, generation);
      write_at(file.number(), piece, at, paths[number]);
    }
  }
  settle(part);
  if (rename(part.c_str(), folder.c_str()) != 0) fail("renaming", part, errno);
}

void remove_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) fail("removing", path, errno);
  }
}

void look_at_files(const Way& way, const Transfer& transfer) {
  std::vector<std::byte> buffer(kPiece);
  for (std::size_t number = 0; number < transfer.paths.size(); ++number) {
    look_at_file(way, transfer, number, buffer);
  }
}

void drop(const std::vector<std::string>& paths) {
  constexpr double little = 0.01;
  for (const std::string& path : paths) {
    const Descriptor file(path, O_RDONLY);
    fsync(file.number());  // only what is written can be forgotten
    posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
  }
  const double left = cached_share(paths);
  if (left > little) {
    throw Unavailable("the page cache keeps " + std::to_string(static_cast<int>(left * 100)) +
                      " % of what it was told to drop: nothing is cold here");
  }
}

double cached_share(const std::vector<std::string>& paths) {
  std::uint64_t all = 0;
  std::uint64_t cached = 0;
  for (const std::string& path : paths) cached += cached_bytes(path, all);
  return all == 0 ? 0 : static_cast<double>(cached) / static_cast<double>(all);
}

void read_all(const std::vector<std::string>& paths) {
  std::vector<std::byte> buffer(kPiece);
  for (const std::string& path : paths) {
    const Descriptor file(path, O_RDONLY);
    for (std::uint64_t at = 0; read_up_to(file.number(), buffer, at, path) == kPiece;) at += kPiece;
  }
}

void settle(const std::string& path) {
  const Descriptor folder(path, O_RDONLY);
  if (syncfs(folder.number()) != 0) fail("syncing the file system of", path, errno);
}

}  // namespace handoff::lab::files
