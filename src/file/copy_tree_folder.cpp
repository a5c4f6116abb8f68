// SPDX-License-Identifier: MIT
#include "copy_tree_folder.hpp"

#include <errno.h>
#include <fcntl.h>

#include <string_view>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

std::string joined(const std::string& folder, std::string_view name) {
  if (name.empty() || name == ".") return folder;
  if (folder.empty()) return std::string(name);
  return folder.back() == '/' ? folder + std::string(name) : folder + '/' + std::string(name);
}

}  // namespace

void CopyFolders::add(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  folder.users = 1;
  opened(folder);
  if (folder.parent == nullptr) return;
  ++folder.parent->references;
  ++folder.parent->work;
}

long CopyFolders::pin(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  if (folder.from < 0) {
    const long result = open_again(folder);
    if (result < 0) return result;
  }
  busy(folder);
  ++folder.users;
  return 0;
}

void CopyFolders::unpin(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  if (--folder.users == 0 && folder.from >= 0) idle(folder);
}

void CopyFolders::add_work(CopyFolder& folder, std::uint64_t count) noexcept {
  sync::Lock lock(mutex_);
  folder.work += count;
}

bool CopyFolders::end_work(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  return --folder.work == 0;
}

void CopyFolders::open_parent(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  CopyFolder* const parent = folder.parent;
  if (parent == nullptr || parent->from >= 0 || folder.from < 0) return;
  const long from = calls_.open(folder.from, "..", kOpenFolder);
  const long to = from < 0 ? -1 : calls_.open(folder.to, "..", kOpenFolder);
  if (adopt(*parent, from, to)) idle(*parent);  // else from above, when it is needed
}

void CopyFolders::retain(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  ++folder.references;
}

void CopyFolders::release(CopyFolder* folder) noexcept {
  sync::Lock lock(mutex_);
  while (folder != nullptr && --folder->references == 0) {
    CopyFolder* const parent = folder->parent;
    busy(*folder);
    close(*folder);
    delete folder;
    folder = parent;
  }
}

bool CopyFolders::spare() noexcept {
  sync::Lock lock(mutex_);
  if (oldest_ == nullptr) return false;
  CopyFolder& folder = *oldest_;
  busy(folder);
  close(folder);
  return true;
}

void CopyFolders::named(CopyFolder& folder) noexcept {
  sync::Lock lock(mutex_);
  folder.temporary.clear();
}

std::string CopyFolders::from_path(const CopyFolder& folder, const std::string& name) {
  std::vector<const CopyFolder*> chain;
  const CopyFolder* root = &folder;
  for (; root->parent != nullptr; root = root->parent) chain.push_back(root);
  std::string path = root->from_path;
  for (; !chain.empty(); chain.pop_back()) path = joined(path, chain.back()->from_name);
  return joined(path, name);
}

std::string CopyFolders::to_path(const CopyFolder& folder, const std::string& name) {
  sync::Lock lock(mutex_);
  std::vector<const CopyFolder*> chain;
  const CopyFolder* root = &folder;
  for (; root->parent != nullptr; root = root->parent) chain.push_back(root);
  std::string path = root->to_path;
  for (; !chain.empty(); chain.pop_back()) path = joined(path, chain.back()->disk_name());
  return joined(path, name);
}

long CopyFolders::open_again(CopyFolder& folder) noexcept {
  // Down from the nearest one that is open, holding one at a time. The chain of pointers is walked
  // again for each step, but steps are few: what was below has opened the parent before.
  CopyFolder* held = nullptr;
  while (folder.from < 0) {
    CopyFolder* highest = &folder;
    while (highest->parent->from < 0) highest = highest->parent;
    busy(*highest->parent);
    ++highest->parent->users;
    const long result = open_below(*highest->parent, *highest);
    if (--highest->parent->users == 0) idle(*highest->parent);
    if (result == 0) ++highest->users;
    if (held != nullptr && --held->users == 0) idle(*held);
    if (result < 0) return result;
    held = highest;
  }
  if (held != nullptr) --held->users;  // pinned next
  return 0;
}

long CopyFolders::open_below(CopyFolder& parent, CopyFolder& folder) noexcept {
  const long from = calls_.open(parent.from, folder.from_name.c_str(), kOpenFolder);
  if (from < 0) return from;
  const long to = calls_.open(parent.to, folder.disk_name().c_str(), kOpenFolder);
  if (to < 0) {
    calls_.close(static_cast<int>(from));
    return to;
  }
  return adopt(folder, from, to) ? 0 : -ESTALE;
}

// The descriptors are the folder's if they are what it was; else they are closed.
bool CopyFolders::adopt(CopyFolder& folder, long from, long to) noexcept {
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
  opened(folder);
  return true;
}

void CopyFolders::opened(CopyFolder& folder) noexcept {
  if (folder.parent == nullptr) return;
  ++open_;
  close_some();
}

void CopyFolders::idle(CopyFolder& folder) noexcept {
  if (folder.idle || folder.parent == nullptr) return;
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
  if (folder.parent != nullptr) --open_;
}

void CopyFolders::close_some() noexcept {
  while (open_ > most_ && oldest_ != nullptr) {
    CopyFolder& folder = *oldest_;
    busy(folder);
    close(folder);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
