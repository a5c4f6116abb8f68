// SPDX-License-Identifier: MIT
//
// What a copy keeps beside the contents: owner, extended attributes (access lists among them), mode
// and times, in this order. A change of owner clears set-user-ID bits and capabilities; an access
// list is the mode as well; and all of them change the times.
//
// Rights never widen, at no moment: rights that cannot be kept are taken away. A new file is its
// owner's alone until it has all its rights (made_mode()).
#include <errno.h>
#include <fcntl.h>

#include <string_view>

#include "copy_tree_job.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Attributes that the system keeps for itself: what cannot be set is no loss of the user's.
bool is_the_systems(std::string_view key) noexcept {
  return key.starts_with("security.") || key.starts_with("trusted.");
}

bool is_refusal(long error) noexcept {
  return error == -EPERM || error == -EACCES || error == -EOPNOTSUPP;
}

}  // namespace

bool has_changed(const struct statx& before, const struct statx& after) noexcept {
  return before.stx_size != after.stx_size || before.stx_mtime.tv_sec != after.stx_mtime.tv_sec ||
         before.stx_mtime.tv_nsec != after.stx_mtime.tv_nsec;
}

// With which mode it is made. Into a new directory nobody else comes before it is finished; its
// files have their own modes at once where they are the caller's, which spares a call for each.
unsigned CopyJob::made_mode(const CopyFolder& folder, const struct statx& as) const noexcept {
  const bool mine = as.stx_uid == user_ && as.stx_gid == group_;
  return as.stx_mode & (folder.made && mine ? 0777u : 0700u);
}

CopyJob::Kept CopyJob::keep_owner(CopySpot copy, FileRef to, const struct statx& as,
                                  const struct statx& made) noexcept {
  Kept kept{.user = as.stx_uid == made.stx_uid, .group = as.stx_gid == made.stx_gid};
  if (kept.both()) return kept;
  const long result = calls_.change_owner(to, as.stx_uid, as.stx_gid);
  if (result >= 0) return {.user = true, .group = true};
  if (user_ != 0 && (result == -EPERM || result == -EINVAL)) {  // then the group at least
    if (!kept.group) kept.group = calls_.change_owner(to, ~0u, as.stx_gid) >= 0;
  } else {
    problem(copy, {"set the owner"}, result);
  }
  return kept;
}

// Takes away the lists that the copy has and the source does not, and sets the mode.
bool CopyJob::drop_lists(FileRef to, unsigned mode, bool keeps_default) noexcept {
  const auto plain = plain_list(mode);
  long result = calls_.set_attribute(to, kAccessList, plain.data(), plain.size());
  if (result == -EOPNOTSUPP) return true;  // there are none here
  if (result >= 0 && !keeps_default) {
    result = calls_.set_attribute(to, kDefaultList, kNoList.data(), kNoList.size());
  }
  return result >= 0;
}

long CopyJob::set_extended(FileRef to, const char* key, const void* value,
                           std::size_t bytes) noexcept {
  const long result = calls_.set_attribute(to, key, value, bytes);
  if (result != -EACCES || user_ == 0) return result;
  // A file that not even its owner may write.
  (void)calls_.change_mode(to, S_IRUSR | S_IWUSR);
  return calls_.set_attribute(to, key, value, bytes);
}

CopyJob::Extended CopyJob::keep_extended(CopySpot source, CopySpot copy, FileRef from, FileRef to,
                                         bool group_kept, bool is_link,
                                         CopyWorker& worker) noexcept {
  Extended kept;
  char* const keys = reinterpret_cast<char*>(worker.buffer.get());
  const std::span value(worker.second.get(), CopyWorker::buffer_bytes);
  const long listed = calls_.list_attributes(from, keys, CopyWorker::buffer_bytes);
  kept.any = listed > 0;
  // Links have neither lists nor attributes of users: nothing is lost where they cannot be asked.
  if (listed < 0 && listed != -EOPNOTSUPP && !(listed == -ENOSYS && is_link)) {
    problem(source, {"list the attributes"}, listed);
    kept.group = 0;
  }
  for (long at = 0; at < listed;) {
    const std::string_view key(keys + at);
    at += static_cast<long>(key.size()) + 1;
    const bool access = key == kAccessList;
    long result = calls_.get_attribute(from, key.data(), value.data(), value.size());
    if (result == -ENODATA) continue;  // it is gone
    if (access) kept.group = 0;
    if (result >= 0) {
      const std::span<std::byte> got = value.first(static_cast<std::size_t>(result));
      if (access && !group_kept) kept.others = narrow_group(got);
      if (access) kept.group = group_bits(got);
      result = set_extended(to, key.data(), got.data(), got.size());
    }
    if (access) kept.access_list = result >= 0;
    if (key == kDefaultList) kept.default_list = result >= 0;
    if (result >= 0 || (is_the_systems(key) && is_refusal(result))) continue;
    problem(copy, {"keep the attribute ", key}, result);
  }
  return kept;
}

void CopyJob::keep_attributes(CopySpot source, CopySpot copy, FileRef from, FileRef to,
                              const struct statx& as, const struct statx& made, bool may_have_list,
                              CopyWorker& worker) noexcept {
  const bool is_link = S_ISLNK(as.stx_mode);
  const Kept owner = keep_owner(copy, to, as, made);
  const Extended kept = keep_extended(source, copy, from, to, owner.group, is_link, worker);
  unsigned mode = as.stx_mode & (owner.both() ? kModeBits : kModeBits & ~kSetId);
  mode &= ~kOtherBits | kept.others;
  if (!kept.access_list) {
    mode &= ~kGroupBits | kept.group;
    if (!owner.group) mode = narrow_group(mode);
  }
  bool changes = (made.stx_mode & kModeBits) != mode || kept.any;
  if (as.stx_uid != made.stx_uid || as.stx_gid != made.stx_gid) changes = true;
  if (may_have_list && !is_link && !kept.access_list) {
    changes = true;
    if (!drop_lists(to, mode, !S_ISDIR(as.stx_mode) || kept.default_list)) {
      problem(copy, {"drop the access list"}, 0);
      mode &= ~kGroupBits;  // its mask: then it gives nobody anything
    }
  } else if (may_have_list && S_ISDIR(as.stx_mode) && !kept.default_list) {
    (void)calls_.set_attribute(to, kDefaultList, kNoList.data(), kNoList.size());
  }
  if (changes && !is_link) {
    const long result = calls_.change_mode(to, mode);
    if (result < 0) problem(copy, {"set the mode"}, result);
  }
  const long result = calls_.change_times(to, as);
  if (result < 0) problem(copy, {"set the times"}, result);
}

// A directory, when all in it has ended. What was there may have allowed more than it shall, and
// to others: it is closed for them before it changes its owner.
void CopyJob::keep_folder(CopyFolder& folder, const struct statx& made,
                          CopyWorker& worker) noexcept {
  const struct statx& as = folder.attributes;
  const bool moves = as.stx_uid != made.stx_uid || as.stx_gid != made.stx_gid;
  if (!folder.made && moves) (void)calls_.change_mode(folder.copy(), made.stx_mode & S_IRWXU);
  keep_attributes({folder.parent, folder.from_name, false}, {folder.parent, folder.name, true},
                  {folder.from}, folder.copy(), as, made, !folder.made || folder.inherits, worker);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
