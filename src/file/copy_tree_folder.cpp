// SPDX-License-Identifier: MIT
#include "copy_tree_folder.hpp"

#include <errno.h>
#include <fcntl.h>

#include <string_view>
#include <vector>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

std::string joined(const std::string& folder, std::string_view name) {
  if (name.empty() || name == ".") return folder;
  if (folder == ".") return std::string(name);
  return folder.back() == '/' ? folder + std::string(name) : folder + '/' + std::string(name);
}

}  // namespace

void CopyFolders::add(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  folder.users = 1;
  opened();
  if (folder.parent == nullptr) return;
  ++folder.parent->references;
  ++folder.parent->work;
}

long CopyFolders::pin(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  if (folder.from < 0) {
    const long result = open_again(folder);
    if (result < 0) return result;
  }
  busy(folder);
  ++folder.users;
  return 0;
}

void CopyFolders::unpin(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  if (--folder.users == 0 && folder.from >= 0) idle(folder);
}

void CopyFolders::add_work(CopyFolder& folder, std::uint64_t count) noexcept {
  sync::SeenLock lock(mutex_);
  folder.work += count;
}

bool CopyFolders::end_work(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  return --folder.work == 0;
}

void CopyFolders::open_parent(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  CopyFolder* const parent = folder.parent;
  if (parent == nullptr || parent->from >= 0 || folder.from < 0) return;
  if (parent->parent == nullptr) return;  // a root: by its path, when it is needed
  bool is_path = false;
  const long from = calls_.open(folder.from, "..", kOpenFolder);
  const long to = from < 0 ? -1 : open_copy(folder.to, "..", is_path, Mutex::held);
  if (adopt(*parent, from, to, is_path)) idle(*parent);  // else from above, when it is needed
}

long CopyFolders::open(int in, const char* name, int flags, unsigned mode, Mutex mutex) noexcept {
  for (;;) {
    const long result = calls_.open(in, name, flags, mode);
    if (result != -EMFILE && result != -ENFILE) return result;
    if (mutex == Mutex::held ? !spare() : !spare_one()) return result;
  }
}

long CopyFolders::open_copy(int in, const char* name, bool& is_path, Mutex mutex) noexcept {
  is_path = false;
  long result = open(in, name, kOpenFolder, 0, mutex);
  if (result == -EACCES) {
    result = open(in, name, kOpenRoot | O_NOFOLLOW, 0, mutex);
    is_path = result >= 0;
  }
  return result;
}

void CopyFolders::retain(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  ++folder.references;
}

void CopyFolders::release(CopyFolder* folder) noexcept {
  sync::SeenLock lock(mutex_);
  while (folder != nullptr && --folder->references == 0) {
    CopyFolder* const parent = folder->parent;
    busy(*folder);
    close(*folder);
    if (parent != nullptr) delete folder;
    folder = parent;
  }
}

void CopyFolders::rest(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  busy(folder);
  close(folder);
}

bool CopyFolders::spare_one() noexcept {
  sync::SeenLock lock(mutex_);
  return spare();
}

bool CopyFolders::spare() noexcept {
  if (oldest_ == nullptr) return false;
  CopyFolder& folder = *oldest_;
  busy(folder);
  close(folder);
  return true;
}

void CopyFolders::named(CopyFolder& folder) noexcept {
  sync::SeenLock lock(mutex_);
  folder.temporary.clear();
}

std::string CopyFolders::path(const CopyFolder& folder, bool in_copy, std::string_view name) {
  std::vector<const CopyFolder*> chain;
  for (const CopyFolder* at = &folder; at != nullptr; at = at->parent) chain.push_back(at);
  std::string path(".");
  for (; !chain.empty(); chain.pop_back()) {
    path = joined(path, in_copy ? chain.back()->name : chain.back()->from_name);
  }
  return joined(path, name);
}

long CopyFolders::open_again(CopyFolder& folder) noexcept {
  // Down from the nearest one that is open, holding one at a time. The chain of pointers is walked
  // again for each step, but steps are few: what was below has opened the parent before.
  CopyFolder* held = nullptr;
  while (folder.from < 0) {
    CopyFolder* highest = &folder;
    while (highest->parent != nullptr && highest->parent->from < 0) highest = highest->parent;
    CopyFolder* const parent = highest->parent;
    if (parent != nullptr) {
      busy(*parent);
      ++parent->users;
    }
    const long result = open_by_name(*highest);
    if (parent != nullptr && --parent->users == 0) idle(*parent);
    if (result == 0) ++highest->users;
    if (held != nullptr && --held->users == 0) idle(*held);
    if (result < 0) return result;
    held = highest;
  }
  if (held != nullptr) --held->users;  // pinned next
  return 0;
}

// In its parent, which is open; a root by its path.
long CopyFolders::open_by_name(CopyFolder& folder) noexcept {
  const CopyFolder* const parent = folder.parent;
  const bool root = parent == nullptr;
  const int flags = root ? kOpenRoot : kOpenFolder;
  const long from =
      open(root ? AT_FDCWD : parent->from, folder.from_name.c_str(), flags, 0, Mutex::held);
  if (from < 0) return from;
  bool is_path = root;
  const auto open_to = [&](const std::string& name) {
    if (root) return open(AT_FDCWD, name.c_str(), flags, 0, Mutex::held);
    return open_copy(parent->to, name.c_str(), is_path, Mutex::held);
  };
  long to = open_to(folder.disk_name());
  // The thread that finishes it has renamed it and is about to say so (named()).
  if (to == -ENOENT && !folder.temporary.empty()) to = open_to(folder.name);
  if (to < 0) {
    calls_.close(static_cast<int>(from));
    return to;
  }
  return adopt(folder, from, to, is_path) ? 0 : -ESTALE;
}

// The descriptors are the folder's if they are what it was; else they are closed.
bool CopyFolders::adopt(CopyFolder& folder, long from, long to, bool to_is_path) noexcept {
  struct statx there{};
  bool same = from >= 0 && to >= 0;
  same = same && calls_.stat(static_cast<int>(from), "", there) == 0;
  same = same && id_of(there) == folder.from_id;
  same = same && calls_.stat(static_cast<int>(to), "", there) == 0;
  same = same && id_of(there) == folder.to_id;
  if (!same) {
    if (from >= 0) calls_.close(static_cast<int>(from));
    if (to >= 0) calls_.close(static_cast<int>(to));
    return false;
  }
  folder.from = static_cast<int>(from);
  folder.to = static_cast<int>(to);
  folder.to_is_path = to_is_path;
  opened();
  return true;
}

void CopyFolders::opened() noexcept {
  ++open_;
  close_some();
}

void CopyFolders::idle(CopyFolder& folder) noexcept {
  if (folder.idle) return;
  folder.idle = true;
  folder.older = newest_;
  folder.newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = &folder;
  newest_ = &folder;
  close_some();
}

void CopyFolders::busy(CopyFolder& folder) noexcept {
  if (!folder.idle) return;
  folder.idle = false;
  (folder.older != nullptr ? folder.older->newer : oldest_) = folder.newer;
  (folder.newer != nullptr ? folder.newer->older : newest_) = folder.older;
}

void CopyFolders::close(CopyFolder& folder) noexcept {
  if (folder.from < 0) return;
  calls_.close(folder.from);
  calls_.close(folder.to);
  folder.from = folder.to = -1;
  --open_;
}

void CopyFolders::close_some() noexcept {
  while (open_ > most_ && spare()) {
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
