// SPDX-License-Identifier: MIT
//
// Directories: opened, read, handed out to the threads, finished.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>

#include "copy_tree_job.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kBatch = 64;  // entries that are handed out together
constexpr std::size_t kNames = 1 << 15;  // that are sorted together, if a directory has more
constexpr unsigned char kFolderType = S_IFDIR >> 12;

}  // namespace

CopyJob::CopyJob(CopyTreeOptions& options, std::size_t folders_open)
    : options_(options),
      calls_(options.tap),
      folders_(calls_, folders_open),
      user_(::geteuid()),
      group_(::getegid()) {}

void CopyJob::problem(std::string path, std::string what, long error) {
  sync::Lock lock(mutex_);
  result_.problems.push_back({std::move(path), std::move(what), static_cast<int>(-error)});
}

void CopyJob::add_bytes(std::uint64_t bytes) {
  sync::Lock lock(mutex_);
  progress_.bytes += bytes;
}

void CopyJob::counted(std::uint64_t files, std::uint64_t bytes, bool all) {
  sync::Lock lock(mutex_);
  progress_.all_files = files;
  progress_.all_bytes = bytes;
  progress_.counted = all;
}

void CopyJob::look() {
  if (!options_.progress) return;
  CopyTreeProgress now;
  {
    sync::Lock lock(mutex_);
    now = progress_;
  }
  options_.progress(now);
}

void CopyJob::begin(CopyFolder& root, CopyEntry entry) {
  folders_.add(root);
  add_file_system(root);
  std::vector<CopyEntry> one;
  one.push_back(std::move(entry));
  hand_out(root, one);
  folders_.unpin(root);
  end_work(root);
}

void CopyJob::run(std::size_t width) {
  UniqueFunction<void()> seen = [this] { look(); };
  crew_.run(width, seen);
  {
    sync::Lock lock(mutex_);
    progress_.syncing = options_.durable;
  }
  look();
  name_all();
  look();
  for (auto& [id, link] : links_) folders_.release(link.place.folder);
  for (const FileSystem& system : file_systems_) calls_.close(system.descriptor);
  result_.stopped = stopped();
}

// The descriptor is kept from before the first write: then a sync tells all errors since.
void CopyJob::add_file_system(CopyFolder& folder) {
  if (!options_.durable) return;
  std::string path = folders_.to_path(folder);
  sync::Lock lock(mutex_);
  for (const FileSystem& system : file_systems_) {
    if (system.device == folder.to_id.device) return;
  }
  const long own = calls_.open(folder.to, ".", O_RDONLY | O_DIRECTORY);
  if (own < 0) {
    result_.problems.push_back({std::move(path), "open for the sync", static_cast<int>(-own)});
    return;
  }
  file_systems_.push_back({folder.to_id.device, static_cast<int>(own), std::move(path)});
}

// A task is what an exception ends: there is no memory.
void CopyJob::call_safely(CopyFolder& folder, const std::string& name,
                          UniqueFunction<void()> function) {
  try {
    function();
  } catch (const std::exception&) {
    problem(folders_.from_path(folder, name), "copy", -ENOMEM);
  }
}

void CopyJob::run_folder(CopyFolder& parent, const CopyEntry& entry) {
  if (stopped()) return;
  const long result = folders_.pin(parent);
  if (result < 0) return problem(from_path(parent, entry), "open the directory of", result);
  CopyFolder* const folder = open_folder(parent, entry);
  folders_.unpin(parent);
  if (folder == nullptr) return;
  call_safely(*folder, {}, [&] { read_folder(*folder); });
  folders_.unpin(*folder);
  end_work(*folder);
}

// Pinned, with its copy; null: it cannot be, which was told.
CopyFolder* CopyJob::open_folder(CopyFolder& parent, const CopyEntry& entry) {
  const long from = open_source(parent.from, entry.name.c_str(), kOpenFolder);
  if (from == -ELOOP || from == -ENOTDIR) {
    problem(from_path(parent, entry), "was replaced while it was copied", 0);
    return nullptr;
  }
  if (from < 0) {
    problem(from_path(parent, entry), "open", from);
    return nullptr;
  }
  auto folder = std::make_unique<CopyFolder>();
  folder->parent = &parent;
  folder->from = static_cast<int>(from);
  folder->from_name = entry.name;
  folder->name = entry.target();
  const long result = calls_.stat(folder->from, "", folder->attributes);
  folder->from_id = id_of(folder->attributes);
  if (result < 0) {
    problem(from_path(parent, entry), "look at", result);
  } else if (open_target(parent, *folder)) {
    folders_.add(*folder);
    if (folder->to_id.device != parent.to_id.device) add_file_system(*folder);
    sync::Lock lock(mutex_);
    ++result_.directories;
    return folder.release();
  }
  calls_.close(folder->from);
  return nullptr;
}

bool CopyJob::is_new_root(FileId id) {
  sync::Lock lock(mutex_);
  return new_roots_.contains(id);
}

// The copy's directory: one that is there, or a new one, below a temporary name if its parent is
// not new.
bool CopyJob::open_target(CopyFolder& parent, CopyFolder& folder) {
  const CopyEntry entry{.name = folder.from_name, .to_name = folder.name};
  const auto failed = [&](const char* what, long error) {
    problem(to_path(parent, entry), what, error);
    return false;
  };
  if (is_new_root(folder.from_id)) return failed("is the copy itself", 0);
  long to = -ENOENT;
  if (!parent.made) to = open(parent.to, folder.name.c_str(), kOpenFolder);
  if (to == -ELOOP) to = -ENOTDIR;
  if (to < 0 && to != -ENOENT) return failed("open", to);
  if (to < 0) {
    if (!parent.made) folder.temporary = temporary_name(folder.name);
    long result = calls_.make_directory(parent.to, folder.disk_name().c_str(), 0700);
    if (result < 0) return failed("create", result);
    folder.made = true;
    to = open(parent.to, folder.disk_name().c_str(), kOpenFolder);
    if (to < 0) {
      calls_.remove_directory(parent.to, folder.disk_name().c_str());
      return failed("open", to);
    }
  }
  folder.to = static_cast<int>(to);
  struct statx there{};
  const long result = calls_.stat(folder.to, "", there);
  if (result < 0 || (!folder.made && id_of(there) == folder.from_id)) {
    calls_.close(folder.to);
    if (folder.made) calls_.remove_directory(parent.to, folder.disk_name().c_str());
    return result < 0 ? failed("look at", result) : failed("is the source itself", 0);
  }
  folder.to_id = id_of(there);
  if (folder.made && parent.inherits) {
    drop_inherited(folder.to);
  } else if (!folder.made) {
    char none = 0;
    folder.inherits = calls_.get_attribute(folder.to, "system.posix_acl_default", &none, 0) > 0;
  }
  if (folder.made && !parent.made) {
    sync::Lock lock(mutex_);
    new_roots_.insert(folder.to_id);
  }
  return true;
}

void CopyJob::read_folder(CopyFolder& folder) {
  std::vector<CopyEntry> entries;
  std::vector<std::byte> buffer(std::size_t{64} << 10);
  for (;;) {
    const long bytes = calls_.entries(folder.from, buffer.data(), buffer.size());
    if (bytes < 0) problem(folders_.from_path(folder), "read the directory", bytes);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const std::byte* const record = buffer.data() + at;
      const auto* const one = reinterpret_cast<const dirent64*>(record);
      at += one->d_reclen;
      const std::string_view name(one->d_name);
      if (name == "." || name == "..") continue;
      entries.push_back({.name = std::string(name), .inode = one->d_ino, .type = one->d_type});
    }
    if (entries.size() >= kNames) hand_out(folder, entries);
    if (stopped()) break;
  }
  hand_out(folder, entries);
}

// Directories become tasks first, so that files of this one are done before: the newest task is
// the next.
void CopyJob::hand_out(CopyFolder& folder, std::vector<CopyEntry>& entries) {
  for (CopyEntry& entry : entries) {
    if (entry.type != DT_UNKNOWN) continue;
    struct statx attributes{};
    const long result = calls_.stat(folder.from, entry.name.c_str(), attributes);
    if (result < 0) problem(from_path(folder, entry), "look at", result);
    entry.type = result < 0 ? static_cast<unsigned char>(DT_UNKNOWN)
                            : static_cast<unsigned char>(attributes.stx_mode >> 12);
  }
  std::erase_if(entries, [](const CopyEntry& entry) { return entry.type == DT_UNKNOWN; });
  std::sort(entries.begin(), entries.end(), [](const CopyEntry& a, const CopyEntry& b) {
    const bool a_folder = a.type == kFolderType;
    const bool b_folder = b.type == kFolderType;
    return a_folder != b_folder ? a_folder : a.inode < b.inode;
  });
  std::size_t at = 0;
  for (; at < entries.size() && entries[at].type == kFolderType; ++at) {
    folders_.add_work(folder);
    crew_.push([this, &folder, entry = std::move(entries[at])](CopyWorker&) {
      call_safely(folder, entry.name, [&] { run_folder(folder, entry); });
      end_work(folder);
    });
  }
  while (at < entries.size()) {
    const std::size_t end = std::min(at + kBatch, entries.size());
    std::vector<CopyEntry> batch(
        std::make_move_iterator(entries.begin() + static_cast<std::ptrdiff_t>(at)),
        std::make_move_iterator(entries.begin() + static_cast<std::ptrdiff_t>(end)));
    at = end;
    folders_.add_work(folder, batch.size());
    crew_.push([this, &folder, batch = std::move(batch)](CopyWorker& worker) {
      run_batch(folder, batch, worker);
    });
  }
  entries.clear();
}

void CopyJob::run_batch(CopyFolder& folder, const std::vector<CopyEntry>& entries,
                        CopyWorker& worker) {
  std::vector<CopiedFile> copied;
  const long result = stopped() ? -ECANCELED : folders_.pin(folder);
  for (const CopyEntry& entry : entries) {
    if (stopped()) break;
    if (result < 0) {
      problem(from_path(folder, entry), "open the directory of", result);
      continue;
    }
    call_safely(folder, entry.name, [&] { copy_entry(folder, entry, worker, copied); });
  }
  if (options_.verify && !copied.empty()) {
    call_safely(folder, {}, [&] { verify(folder, copied, worker); });
  }
  for (CopiedFile& file : copied) {
    call_safely(folder, file.entry->name, [&] { settle(folder, file); });
  }
  if (result == 0) folders_.unpin(folder);
  for (std::size_t n = entries.size(); n > 0; --n) end_work(folder);
}

// An entry has ended. The last one finishes its directory, which is an entry of its parent.
void CopyJob::end_work(CopyFolder& folder) {
  CopyFolder* now = &folder;
  while (now != nullptr && folders_.end_work(*now)) {
    CopyFolder* const parent = now->parent;
    const bool named = finish(*now);
    folders_.release(now);
    now = named ? parent : nullptr;
  }
}

// False: it is an entry of its parent's that has not ended, because it will get its name later.
bool CopyJob::finish(CopyFolder& folder) {
  if (folder.parent == nullptr) return true;
  CopyFolder& parent = *folder.parent;
  const CopyEntry entry{.name = folder.from_name, .to_name = folder.name};
  long result = folders_.pin(folder);
  if (result < 0) {
    problem(from_path(parent, entry), "open again", result);
  } else {
    CopyWorker worker;
    struct statx made{};
    result = calls_.stat(folder.to, "", made);
    if (result < 0) problem(to_path(parent, entry), "look at the copy", result);
    if (result >= 0) {
      keep_attributes(parent, entry, folder.from, folder.to, folder.attributes, made,
                      folder.inherits, worker);
    }
    folders_.open_parent(folder);
    folders_.unpin(folder);
  }
  if (folder.temporary.empty()) return true;
  if (options_.durable) {
    folders_.retain(folder);
    folders_.retain(parent);
    sync::Lock lock(mutex_);
    pending_.push_back({&parent, folder.temporary, folder.name, &folder});
    return false;
  }
  result = folders_.pin(parent);
  if (result >= 0) {
    result = calls_.rename(parent.to, folder.temporary.c_str(), folder.name.c_str());
    folders_.unpin(parent);
  }
  if (result >= 0) {
    folders_.named(folder);
  } else {
    problem(to_path(parent, entry), "is left as " + folder.temporary, result);
  }
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
