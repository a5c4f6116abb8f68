// SPDX-License-Identifier: MIT
//
// Directories: opened, read, handed out to the threads, finished.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
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
      group_(::getegid()),
      untold_{
          .path = {}, .what = "more went wrong than there was memory to tell", .error = ENOMEM} {
  result_.problems.reserve(1);  // for that one
}

CopyJob::~CopyJob() {
  for (const auto& root : roots_) folders_.rest(*root);
}

template <class Add>
void CopyJob::tell(const Add& add) noexcept {
  const bool told = attempt(add);
  sync::SeenLock lock(mutex_);
  some_untold_ = some_untold_ || !told;
}

void CopyJob::problem(CopySpot where, CopyWhat what, long error) noexcept {
  tell([&] {
    add_problem(CopyFolders::path(*where.folder, where.in_copy, where.name), what, error);
  });
}

void CopyJob::problem(std::string_view path, CopyWhat what, long error) noexcept {
  tell([&] { add_problem(std::string(path), what, error); });
}

// There is always room for one more.
void CopyJob::add_problem(std::string path, CopyWhat what, long error) {
  std::string said(what.said);
  said += what.detail;
  if (what.offset != CopyWhat::nowhere) said += " at " + std::to_string(what.offset);
  sync::SeenLock lock(mutex_);
  std::vector<CopyTreeProblem>& problems = result_.problems;
  if (problems.size() + 2 > problems.capacity()) problems.reserve(2 * problems.capacity() + 2);
  problems.push_back({std::move(path), std::move(said), static_cast<int>(-error)});
}

CopyTreeResult CopyJob::take_result() {
  if (some_untold_) result_.problems.push_back(std::move(untold_));
  return std::move(result_);
}

void CopyJob::add_bytes(std::uint64_t bytes) {
  sync::SeenLock lock(mutex_);
  progress_.bytes += bytes;
}

void CopyJob::counted(std::uint64_t files, std::uint64_t bytes, bool all) {
  sync::SeenLock lock(mutex_);
  progress_.all_files = files;
  progress_.all_bytes = bytes;
  progress_.counted = all;
}

void CopyJob::look(bool at_end) {
  if (!options_.progress) return;
  CopyTreeProgress now;
  {
    sync::SeenLock lock(mutex_);
    now = progress_;
    now.files = result_.files;
    // What was counted was an estimate.
    const bool is_all = result_.ok() && !some_untold_;
    if (at_end && options_.count && is_all) {
      now.all_files = now.files;
      now.bytes = now.all_bytes = result_.bytes;
      now.counted = true;
    }
  }
  options_.progress(now);
}

bool CopyJob::cut_off() noexcept {
  if (!stopped()) return false;
  sync::SeenLock lock(mutex_);
  return result_.stopped = true;
}

CopyFolder& CopyJob::add_root(std::unique_ptr<CopyFolder> root, OwnFile& from, OwnFile& to) {
  roots_.push_back(std::move(root));
  CopyFolder& added = *roots_.back();
  added.from = from.release();
  added.to = to.release();
  folders_.add(added);
  return added;
}

void CopyJob::begin(CopyFolder& root, CopyEntry entry) {
  std::vector<CopyEntry> one;
  one.push_back(std::move(entry));
  hand_out(root, one, nullptr);
}

void CopyJob::run(std::size_t width) {
  std::vector<CopyWorker> workers(1);
  (void)attempt([&] {
    workers.reserve(width);
    while (workers.size() < width) workers.emplace_back();
  });  // those that there are do it
  for (const auto& root : roots_) {
    if (options_.durable && folders_.pin(*root) == 0) {
      add_file_system(*root);
      folders_.unpin(*root);
    }
    end_work(*root, workers.front());
  }
  UniqueFunction<void()> seen = [this] { look(); };
  crew_.run(workers, seen);
  {
    sync::SeenLock lock(mutex_);
    progress_.syncing = options_.durable;
  }
  look();
  name_all(workers.front());
  look(true);
  for (auto& [id, link] : links_) folders_.release(link.place.folder);
  for (const FileSystem& system : file_systems_) calls_.close(system.descriptor);
}

// The descriptor is kept from before the first write: then a sync tells all errors since. A
// directory that may not be read can have a file without a name, which does as well.
void CopyJob::add_file_system(CopyFolder& folder) noexcept {
  if (!options_.durable) return;
  const auto is_known = [&] {
    return std::any_of(file_systems_.begin(), file_systems_.end(), [&](const FileSystem& system) {
      return system.device == folder.to_id.device;
    });
  };
  long own = -ENOMEM;
  (void)attempt([&] {
    std::string path = CopyFolders::path(folder, true);
    sync::SeenLock lock(mutex_);
    own = is_known() ? 0 : -ENOMEM;
    if (own == 0) return;
    file_systems_.reserve(file_systems_.size() + 1);
    own = calls_.open(folder.to, ".", O_RDONLY | O_DIRECTORY);
    if (own == -EACCES) own = calls_.open(folder.to, ".", O_WRONLY | O_TMPFILE, S_IRUSR);
    if (own < 0) return;
    file_systems_.push_back({folder.to_id.device, static_cast<int>(own), std::move(path)});
  });
  if (own < 0) problem({&folder, {}, true}, {"open for the sync"}, own);
}

void CopyJob::run_folder(CopyFolder& parent, const CopyEntry& entry, CopyWorker& worker) noexcept {
  if (cut_off()) return;
  const long result = folders_.pin(parent);
  if (result < 0) return problem(from_path(parent, entry), {"open the directory of"}, result);
  CopyFolder* folder = nullptr;
  call_safely(from_path(parent, entry), [&] { folder = open_folder(parent, entry); });
  folders_.unpin(parent);
  if (folder == nullptr) return;
  call_safely({folder, {}, false}, [&] { read_folder(*folder, worker); });
  folders_.unpin(*folder);
  end_work(*folder, worker);
}

// Pinned, with its copy; null: it cannot be, which was told.
CopyFolder* CopyJob::open_folder(CopyFolder& parent, const CopyEntry& entry) {
  OwnFile from(calls_.tap(), open_source(parent.from, entry.name.c_str(), kOpenFolder));
  const CopySpot spot = from_path(parent, entry);
  if (from.get() == -ELOOP || from.get() == -ENOTDIR) {
    return problem(spot, {"was replaced while it was copied"}, 0), nullptr;
  }
  if (from.get() < 0) return problem(spot, {"open"}, from.get()), nullptr;
  auto folder = std::make_unique<CopyFolder>();
  folder->parent = &parent;
  folder->from_name = entry.name;
  folder->name = entry.target();
  const long result = calls_.stat(from.get(), "", folder->attributes);
  folder->from_id = id_of(folder->attributes);
  if (result < 0) return problem(spot, {"look at"}, result), nullptr;
  if (!open_target(parent, *folder)) return nullptr;
  folder->from = from.release();
  folders_.add(*folder);
  if (folder->to_id.device != parent.to_id.device) add_file_system(*folder);
  sync::SeenLock lock(mutex_);
  ++result_.directories;
  return folder.release();
}

bool CopyJob::is_new_root(FileId id) {
  sync::SeenLock lock(mutex_);
  return new_roots_.contains(id);
}

// The copy's directory: one that is there, or a new one, below a temporary name if its parent is
// not new. False: it cannot be, which was told, and nothing is left.
bool CopyJob::open_target(CopyFolder& parent, CopyFolder& folder) {
  const CopySpot spot{&parent, folder.name, true};
  if (is_new_root(folder.from_id)) return problem(spot, {"is the copy itself"}, 0), false;
  long to = -ENOENT;
  if (!parent.made) to = folders_.open_copy(parent.to, folder.name.c_str(), folder.to_is_path);
  if (to == -ELOOP) to = -ENOTDIR;
  if (to < 0 && to != -ENOENT) return problem(spot, {"open"}, to), false;
  if (to < 0) {
    if (!parent.made) folder.temporary = temporary_name(folder.name);
    to = make_target(parent, folder);
    if (to < 0) return problem(spot, {"create"}, to), false;
  }
  OwnFile opened(calls_.tap(), to);
  folder.to = opened.get();
  if (!know_target(parent, folder)) {
    if (folder.made) calls_.remove_directory(parent.to, folder.disk_name().c_str());
    return false;
  }
  (void)opened.release();
  return true;
}

// Its descriptor, or -errno. Whatever the umask, its owner gets in, and nobody else does.
long CopyJob::make_target(CopyFolder& parent, CopyFolder& folder) {
  const char* const name = folder.disk_name().c_str();
  const long result = calls_.make_directory(parent.to, name, S_IRWXU);
  if (result < 0) return result;
  folder.made = true;
  long to = open(parent.to, name, kOpenFolder);
  if (to == -EACCES && calls_.change_mode({parent.to, name}, S_IRWXU) >= 0) {
    to = open(parent.to, name, kOpenFolder);
  }
  if (to < 0) calls_.remove_directory(parent.to, name);
  return to;
}

bool CopyJob::know_target(CopyFolder& parent, CopyFolder& folder) {
  const CopySpot spot{&parent, folder.name, true};
  struct statx there{};
  long result = calls_.stat(folder.to, "", there);
  if (result < 0) return problem(spot, {"look at"}, result), false;
  folder.to_id = id_of(there);
  if (!folder.made) {
    char none = 0;
    folder.inherits = calls_.get_attribute(folder.copy(), kDefaultList, &none, 0) > 0;
    if (folder.to_id != folder.from_id) return true;
    return problem(spot, {"is the source itself"}, 0), false;
  }
  if ((there.stx_mode & S_IRWXU) != S_IRWXU) {
    result = calls_.change_mode(folder.copy(), S_IRWXU);
    if (result < 0) return problem(spot, {"set the mode"}, result), false;
  }
  // What is made in it shall not inherit what the source does not have.
  folder.inherits = parent.inherits && !drop_lists(folder.copy(), S_IRWXU, false);
  if (parent.made) return true;
  const bool noted = attempt([&] {
    sync::SeenLock lock(mutex_);
    new_roots_.insert(folder.to_id);
  });
  if (!noted) problem(spot, {"create"}, -ENOMEM);
  return noted;
}

void CopyJob::read_folder(CopyFolder& folder, CopyWorker& worker) {
  std::vector<CopyEntry> entries;
  std::vector<std::byte> buffer(std::size_t{64} << 10);
  for (;;) {
    const long bytes = calls_.entries(folder.from, buffer.data(), buffer.size());
    if (bytes < 0) problem({&folder, {}, false}, {"read the directory"}, bytes);
    if (bytes <= 0 || cut_off()) break;
    for (long at = 0; at < bytes;) {
      const std::byte* const record = buffer.data() + at;
      const auto* const one = reinterpret_cast<const dirent64*>(record);
      at += one->d_reclen;
      const std::string_view name(one->d_name);
      if (name == "." || name == "..") continue;
      entries.push_back({.name = std::string(name), .inode = one->d_ino, .type = one->d_type});
    }
    if (entries.size() >= kNames) hand_out(folder, entries, &worker);
  }
  hand_out(folder, entries, &worker);
}

// Directories become tasks first, so that files of this one are done before: the newest task is
// the next.
void CopyJob::hand_out(CopyFolder& folder, std::vector<CopyEntry>& entries, CopyWorker* worker) {
  for (CopyEntry& entry : entries) {
    if (entry.type != DT_UNKNOWN) continue;
    struct statx attributes{};
    const long result = calls_.stat(folder.from, entry.name.c_str(), attributes);
    if (result < 0) problem(from_path(folder, entry), {"look at"}, result);
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
    push(folder, 1, worker, [this, &folder, entry = std::move(entries[at])](CopyWorker& its) {
      run_folder(folder, entry, its);
      end_work(folder, its);
    });
  }
  while (at < entries.size()) {
    const std::size_t end = std::min(at + kBatch, entries.size());
    std::vector<CopyEntry> batch(
        std::make_move_iterator(entries.begin() + static_cast<std::ptrdiff_t>(at)),
        std::make_move_iterator(entries.begin() + static_cast<std::ptrdiff_t>(end)));
    at = end;
    const std::size_t count = batch.size();
    push(folder, count, worker, [this, &folder, batch = std::move(batch)](CopyWorker& its) {
      run_batch(folder, batch, its);
    });
  }
  entries.clear();
}

void CopyJob::run_batch(CopyFolder& folder, const std::vector<CopyEntry>& entries,
                        CopyWorker& worker) noexcept {
  std::vector<CopiedFile> copied;
  long result = stopped() ? -ECANCELED : folders_.pin(folder);
  const bool pinned = result == 0;
  const bool room = attempt([&] { copied.reserve(entries.size()); });
  if (pinned && !room) result = -ENOMEM;
  for (const CopyEntry& entry : entries) {
    if (cut_off()) break;
    if (result < 0) {
      problem(from_path(folder, entry), {"open the directory of"}, result);
      continue;
    }
    call_safely(from_path(folder, entry), [&] { copy_entry(folder, entry, worker, copied); });
  }
  if (options_.verify && !copied.empty()) verify(folder, copied, worker);
  for (CopiedFile& file : copied) settle(folder, file, worker);
  if (pinned) folders_.unpin(folder);
  for (std::size_t n = entries.size(); n > 0; --n) end_work(folder, worker);
}

// An entry has ended. The last one finishes its directory, which is an entry of its parent.
void CopyJob::end_work(CopyFolder& folder, CopyWorker& worker) noexcept {
  CopyFolder* now = &folder;
  while (now != nullptr && folders_.end_work(*now)) {
    CopyFolder* const parent = now->parent;
    const bool named = finish(*now, worker);
    folders_.release(now);
    now = named ? parent : nullptr;
  }
}

// False: it is an entry of its parent's that has not ended, because it will get its name later.
bool CopyJob::finish(CopyFolder& folder, CopyWorker& worker) noexcept {
  if (folder.parent == nullptr) return true;
  CopyFolder& parent = *folder.parent;
  const CopySpot spot{&parent, folder.name, true};
  long result = folders_.pin(folder);
  if (result < 0) {
    problem({&parent, folder.from_name, false}, {"open again"}, result);
  } else {
    struct statx made{};
    result = calls_.stat(folder.to, "", made);
    if (result < 0) problem(spot, {"look at the copy"}, result);
    if (result >= 0) keep_folder(folder, made, worker);
    folders_.open_parent(folder);
    folders_.unpin(folder);
  }
  if (folder.temporary.empty()) return true;
  if (options_.durable) {
    const bool noted = attempt([&] { name_later(folder); });
    if (!noted) problem(spot, {"is left as ", folder.temporary}, -ENOMEM);
    return !noted;
  }
  result = folders_.pin(parent);
  if (result >= 0) {
    result = calls_.rename(parent.to, folder.temporary.c_str(), folder.name.c_str());
    folders_.unpin(parent);
  }
  if (result >= 0) {
    folders_.named(folder);
  } else {
    problem(spot, {"is left as ", folder.temporary}, result);
  }
  return true;
}

void CopyJob::name_later(CopyFolder& folder) {
  Pending pending{folder.parent, folder.temporary, folder.name, &folder};
  sync::SeenLock lock(mutex_);
  pending_.push_back(std::move(pending));
  folders_.retain(folder);
  folders_.retain(*folder.parent);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
