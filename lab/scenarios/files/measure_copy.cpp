// SPDX-License-Identifier: MIT
// A tree that is copied, and compared with its source.
#include <filesystem>
#include <fstream>

#include "scenarios/files/measures.hpp"

namespace handoff::lab::files {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMib = std::size_t{1} << 20;

struct Entry {
  std::string name;  // below the tree
  struct stat status{};
};

// In the order of their names.
std::vector<Entry> entries_of(const std::string& tree) {
  std::vector<Entry> entries;
  for (const auto& found : fs::recursive_directory_iterator(tree)) {
    Entry entry{found.path().string().substr(tree.size()), {}};
    if (lstat(found.path().c_str(), &entry.status) != 0) fail("looking at", found.path(), errno);
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

bool is_file(const Entry& entry) { return S_ISREG(entry.status.st_mode); }

void write_file(const fs::path& path, std::size_t bytes, std::uint64_t number) {
  const std::size_t whole = (bytes + kSector - 1) / kSector;
  const Buffers buffers(1, std::max(kSector, std::min(whole * kSector, kMib)));
  std::ofstream file(path, std::ios::binary);
  for (std::size_t at = 0; at < bytes; at += buffers.block()) {
    stamp(buffers[0], number, at, 1);
    file.write(reinterpret_cast<const char*>(buffers[0].data()),
               static_cast<std::streamsize>(std::min(buffers.block(), bytes - at)));
  }
  if (!file.flush()) fail("writing", path, errno);
}

// Folders with small files, links of both kinds, names that are hard to print, and a hole.
void make_small(const fs::path& tree) {
  constexpr std::size_t folders = 40;
  constexpr std::size_t each = 50;
  std::uint64_t random = 1;
  for (std::size_t folder = 0; folder < folders; ++folder) {
    const fs::path path = tree / ("folder" + std::to_string(folder)) / "in it";
    fs::create_directories(path);
    for (std::size_t i = 0; i < each; ++i) {
      random = mix(random + i + 1);
      const std::size_t most = i % 10 == 0 ? 64 * 1024 : 8 * 1024;
      write_file(path / ("file" + std::to_string(i)), random % most, folder * each + i);
    }
    fs::create_symlink("file1", path / "a link");
    fs::create_symlink("nowhere", path / "a link to nothing");
    fs::create_hard_link(path / "file2", path / "another name");
    fs::permissions(path / "file3", fs::perms::owner_read);
  }
  const fs::path hole = tree / "a hole";
  write_file(hole, kSector, 0);
  fs::resize_file(hole, 16 * kMib);
}

void make_large(const fs::path& tree, std::size_t files, std::size_t bytes) {
  for (std::size_t i = 0; i < files; ++i) {
    write_file(tree / ("file" + std::to_string(i)), bytes, i);
  }
}

// Each entry has a time of its own, long ago: rsync leaves a link the time of its copy where that
// is of the same second.
void make_older(const fs::path& tree) {
  timespec then{.tv_sec = 1'600'000'000, .tv_nsec = 1};
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    ++then.tv_sec;
    then.tv_nsec += 1001;
    const std::array<timespec, 2> times{then, then};
    if (utimensat(AT_FDCWD, entry.path().c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
      fail("dating", entry.path(), errno);
    }
  }
}

std::string tree_of(Bench& bench) {
  const std::string& what = bench.task.what;
  if (what == "usr_share") return "/usr/share";
  const std::string tree = bench.task.shared + "/tree";
  if (fs::exists(tree)) return tree;
  const fs::path part = tree + ".part";
  fs::remove_all(part);
  fs::create_directory(part);
  if (what == "small") {
    ask_for_room(part, 64 * kMib);
    make_small(part);
  } else if (what == "large") {
    ask_for_room(part, 256 * kMib);
    make_large(part, 4, 64 * kMib);
  } else {
    ask_for_room(part, 5 * 1024 * kMib);
    make_large(part, 5, 1024 * kMib);
  }
  settle(part);
  make_older(part);
  fs::rename(part, tree);
  return tree;
}

// The first byte that differs, or nothing.
std::optional<std::uint64_t> difference(const std::string& a, const std::string& b) {
  const Descriptor one(a, O_RDONLY);
  const Descriptor other(b, O_RDONLY);
  static std::vector<char> left(kMib);
  static std::vector<char> right(kMib);
  for (std::uint64_t at = 0;;) {
    const ssize_t n = pread(one.number(), left.data(), kMib, static_cast<off_t>(at));
    const ssize_t m = pread(other.number(), right.data(), kMib, static_cast<off_t>(at));
    if (n < 0 || m < 0) fail("reading", b, errno);
    const auto least = static_cast<std::size_t>(std::min(n, m));
    const auto found = std::mismatch(
        left.begin(), left.begin() + static_cast<std::ptrdiff_t>(least), right.begin());
    const auto same = static_cast<std::size_t>(found.first - left.begin());
    if (same < least || n != m) return at + same;
    if (n == 0) return {};
    at += least;
  }
}

bool has_same_attributes(const struct stat& a, const struct stat& b) {
  if (a.st_mode != b.st_mode || a.st_uid != b.st_uid || a.st_gid != b.st_gid) return false;
  if (S_ISREG(a.st_mode) && a.st_blocks * 512 < a.st_size && b.st_blocks > a.st_blocks + 64) {
    return false;  // its holes are gone
  }
  return a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

void compare(Bench& bench, const std::vector<Entry>& wanted, const std::string& from,
             const std::string& to) {
  Report& report = bench.report;
  const bool exactly = bench.way->keeps_attributes();
  const std::vector<Entry> there = entries_of(to);
  if (there.size() != wanted.size()) {
    return report.wrong(Fault::missing, std::min(there.size(), wanted.size()), 0);
  }
  std::map<ino_t, ino_t> copies;  // of files with several names
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const struct stat& a = wanted[i].status;
    const struct stat& b = there[i].status;
    if (wanted[i].name != there[i].name) return report.wrong(Fault::missing, i, 0);
    const auto bytes = static_cast<std::uint64_t>(a.st_size);
    if (is_file(wanted[i]) && a.st_size != b.st_size) {
      report.wrong(Fault::length, i, static_cast<std::uint64_t>(b.st_size), bytes);
      continue;
    }
    bool same = (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT);
    if (exactly) same = same && has_same_attributes(a, b);
    if (exactly && is_file(wanted[i]) && a.st_nlink > 1) {
      same = same && copies.try_emplace(a.st_ino, b.st_ino).first->second == b.st_ino;
    }
    if (S_ISLNK(a.st_mode)) {
      same =
          same && fs::read_symlink(from + wanted[i].name) == fs::read_symlink(to + there[i].name);
    }
    if (!same) report.wrong(Fault::attributes, i, 0);
    if (!is_file(wanted[i]) || !same) continue;
    const auto differs = difference(from + wanted[i].name, to + there[i].name);
    if (differs) report.wrong(Fault::bytes, i, *differs);
    report.looked_at((bytes + kSector - 1) / kSector);
  }
}

// Names and attributes too, where that is allowed.
void forget(const std::vector<std::string>& paths) {
  drop(paths);
  std::ofstream caches("/proc/sys/vm/drop_caches");
  caches << '3' << std::flush;
}

// Removing very many files makes new ones slow for minutes (scenario.cpp), so a copy of these is
// put aside where there is room for the next one too.
void put_away(const Bench& bench, const std::string& copy, std::size_t entries, double bytes) {
  constexpr std::size_t very_many = 10'000;
  static std::size_t number = 0;
  if (entries >= very_many && room_in(bench.task.kept) > static_cast<std::uint64_t>(bytes * 4)) {
    const std::string name = std::to_string(getpid()) + '.' + std::to_string(++number);
    if (rename(copy.c_str(), (bench.task.kept + '/' + name).c_str()) == 0) return;
  }
  fs::remove_all(copy);
}

}  // namespace

Operation copy_of(Bench& bench) {
  const std::string from = tree_of(bench);
  auto wanted = std::make_shared<std::vector<Entry>>(entries_of(from));
  auto paths = std::make_shared<std::vector<std::string>>();
  double bytes = 0;
  for (const Entry& entry : *wanted) {
    if (!is_file(entry)) continue;
    bytes += static_cast<double>(entry.status.st_size);
    if (entry.status.st_size > 0) paths->push_back(from + entry.name);
  }
  ask_for_room(bench.task.shared, static_cast<std::uint64_t>(bytes * 1.2));
  if (bench.task.cold) forget(*paths);
  return [&bench, from, wanted, paths, bytes](Burst& burst) {
    constexpr double mb = 1e6;
    const std::string to = bench.task.folder + "/copy";
    settle(bench.task.folder);
    if (bench.task.cold) {
      forget(*paths);
    } else if (cached_share(*paths) < 1) {
      read_all(*paths);
    }
    bench.timed(burst, bytes, [&] { bench.way->copy(from, to, bench.task.durable); });
    burst.items(bytes / mb);
    const double files = static_cast<double>(wanted->size());
    burst.figure("entries", files);
    compare(bench, *wanted, from, to);
    put_away(bench, to, wanted->size(), bytes);
  };
}

}  // namespace handoff::lab::files
