// SPDX-License-Identifier: MIT
//
// What a copy keeps beside the contents: owner, extended attributes (access lists among them), mode
// and times, in this order. A change of owner clears set-user-ID bits and capabilities; an access
// list is the mode as well; and all of them change the times.
#include <errno.h>
#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "copy_tree_job.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr unsigned kModeBits = 07777;
constexpr unsigned kSetId = S_ISUID | S_ISGID;

// Attributes that the system keeps for itself: what cannot be set is no loss of the user's.
bool is_the_systems(std::string_view key) noexcept {
  return key.starts_with("security.") || key.starts_with("trusted.");
}

bool is_refusal(long error) noexcept {
  return error == -EPERM || error == -EACCES || error == -EOPNOTSUPP;
}

std::string attribute_path(int in, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(in) + '/' + name;
}

}  // namespace

bool has_changed(const struct statx& before, const struct statx& after) noexcept {
  return before.stx_size != after.stx_size || before.stx_mtime.tv_sec != after.stx_mtime.tv_sec ||
         before.stx_mtime.tv_nsec != after.stx_mtime.tv_nsec;
}

// With which mode it is made: its own, unless it could be opened before it has its owner by
// somebody else than may open the source.
unsigned CopyJob::made_mode(const struct statx& as) const noexcept {
  const bool mine = as.stx_uid == user_ && as.stx_gid == group_;
  return as.stx_mode & (mine ? 0777u : 0700u);
}

// True: it has the source's owner and group.
bool CopyJob::keep_owner(CopyFolder& folder, const CopyEntry& entry, int to, const char* name,
                         const struct statx& as, const struct statx& made) {
  if (as.stx_uid == made.stx_uid && as.stx_gid == made.stx_gid) return true;
  long result = calls_.change_owner(to, name, as.stx_uid, as.stx_gid);
  if (result >= 0) return true;
  if (user_ != 0 && (result == -EPERM || result == -EINVAL)) {  // then the group at least
    if (as.stx_gid != made.stx_gid) {
      (void)calls_.change_owner(to, name, ~0u, as.stx_gid);
    }
    return false;
  }
  problem(to_path(folder, entry), "set the owner", result);
  return false;
}

// What the directory gave it that the source does not have.
void CopyJob::drop_inherited(int to) {
  (void)calls_.remove_attribute(to, "system.posix_acl_access");
  (void)calls_.remove_attribute(to, "system.posix_acl_default");
}

template <class List, class Get, class Set>
void CopyJob::keep_extended(CopyFolder& folder, const CopyEntry& entry, CopyWorker& worker,
                            List&& list, Get&& get, Set&& set) {
  char* const keys = reinterpret_cast<char*>(worker.buffer.get());
  const long bytes = list(keys, CopyWorker::buffer_bytes);
  if (bytes < 0 && bytes != -EOPNOTSUPP && bytes != -ENOSYS) {
    problem(from_path(folder, entry), "list the attributes", bytes);
  }
  for (long at = 0; at < bytes;) {
    const std::string key(keys + at);
    at += static_cast<long>(key.size()) + 1;
    long result = get(key.c_str(), worker.second.get(), CopyWorker::buffer_bytes);
    if (result == -ENODATA) continue;  // it is gone
    if (result >= 0) {
      result = set(key.c_str(), worker.second.get(), static_cast<std::size_t>(result));
    }
    if (result >= 0 || (is_the_systems(key) && is_refusal(result))) continue;
    problem(to_path(folder, entry), "keep the attribute " + key, result);
  }
}

void CopyJob::keep_attributes(CopyFolder& folder, const CopyEntry& entry, int from, int to,
                              const struct statx& as, const struct statx& made, bool inherits,
                              CopyWorker& worker) {
  const bool owned = keep_owner(folder, entry, to, nullptr, as, made);
  if (inherits) drop_inherited(to);
  bool listed = false;
  keep_extended(
      folder, entry, worker,
      [&](char* into, std::size_t bytes) {
        const long result = calls_.list_attributes(from, into, bytes);
        listed = result > 0;
        return result;
      },
      [&](const char* key, void* into, std::size_t bytes) {
        return calls_.get_attribute(from, key, into, bytes);
      },
      [&](const char* key, const void* value, std::size_t bytes) {
        long result = calls_.set_attribute(to, key, value, bytes);
        if (result == -EACCES && user_ != 0) {  // a file that not even its owner may write
          (void)calls_.change_mode(to, nullptr, S_IRUSR | S_IWUSR);
          result = calls_.set_attribute(to, key, value, bytes);
        }
        return result;
      });
  const bool moved_owner = as.stx_uid != made.stx_uid || as.stx_gid != made.stx_gid;
  const unsigned mode = as.stx_mode & (owned ? kModeBits : kModeBits & ~kSetId);
  if (mode != (made.stx_mode & kModeBits) || inherits || listed || moved_owner) {
    const long result = calls_.change_mode(to, nullptr, mode);
    if (result < 0) problem(to_path(folder, entry), "set the mode", result);
  }
  const long result = calls_.change_times(to, nullptr, as);
  if (result < 0) problem(to_path(folder, entry), "set the times", result);
}

void CopyJob::keep_attributes_by_name(CopyFolder& folder, const CopyEntry& entry,
                                      const std::string& name, const struct statx& as,
                                      CopyWorker& worker) {
  struct statx made{};
  long result = calls_.stat(folder.to, name.c_str(), made);
  if (result < 0) return problem(to_path(folder, entry), "look at the copy", result);
  const bool owned = keep_owner(folder, entry, folder.to, name.c_str(), as, made);
  const std::string source = attribute_path(folder.from, entry.name);
  const std::string copy = attribute_path(folder.to, name);
  keep_extended(
      folder, entry, worker,
      [&](char* into, std::size_t bytes) {
        return calls_.list_attributes(source.c_str(), into, bytes);
      },
      [&](const char* key, void* into, std::size_t bytes) {
        return calls_.get_attribute(source.c_str(), key, into, bytes);
      },
      [&](const char* key, const void* value, std::size_t bytes) {
        return calls_.set_attribute(copy.c_str(), key, value, bytes);
      });
  if (!S_ISLNK(as.stx_mode)) {
    const unsigned mode = as.stx_mode & (owned ? kModeBits : kModeBits & ~kSetId);
    result = calls_.change_mode(folder.to, name.c_str(), mode);
    if (result < 0) problem(to_path(folder, entry), "set the mode", result);
  }
  result = calls_.change_times(folder.to, name.c_str(), as);
  if (result < 0) problem(to_path(folder, entry), "set the times", result);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
