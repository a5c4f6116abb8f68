// SPDX-License-Identifier: MIT
//
// Group commit.
#include "sync_groups.hpp"

#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

FileRun** SyncGroups::find(const FileRun& run) noexcept {
  FileRun** link = &bucket(run);
  while (*link != nullptr) {
    const FileRun::SyncPlace& maker = (*link)->sync_place;
    if (maker.inode == run.sync_place.inode && maker.device == run.sync_place.device) break;
    link = &(*link)->sync_place.next_maker;
  }
  return link;
}

bool SyncGroups::join(FileRun& run) noexcept {
  const sync::SeenLock lock(mutex_);
  FileRun** const link = find(run);
  if (*link == nullptr) {
    *link = &run;
    return true;
  }
  FileRun::SyncPlace& maker = (*link)->sync_place;
  (maker.waiting == nullptr ? maker.waiting : maker.waiting_last->sync_place.behind) = &run;
  maker.waiting_last = &run;
  return false;
}

int SyncGroups::begin(FileRun& run) noexcept {
  const sync::SeenLock lock(mutex_);
  FileRun::SyncPlace& maker = run.sync_place;
  maker.served = std::exchange(maker.waiting, nullptr);
  const FileRun::SyncPlace* oldest = &maker;
  for (const FileRun* one = maker.served; one != nullptr; one = one->sync_place.behind) {
    if (one->sync_place.opened < oldest->opened) oldest = &one->sync_place;
  }
  maker.synced = oldest->open_file;
  return oldest->descriptor;
}

void SyncGroups::end(FileRun& run, int error) noexcept {
  FileRun* served = nullptr;
  FileRun* next = nullptr;
  {
    const sync::SeenLock lock(mutex_);
    FileRun::SyncPlace& maker = run.sync_place;
    served = std::exchange(maker.served, nullptr);
    next = maker.waiting;
    FileRun** const link = find(run);
    if (next == nullptr) {
      *link = maker.next_maker;
    } else {
      FileRun::SyncPlace& heir = next->sync_place;
      heir.makes = true;
      heir.waiting = std::exchange(heir.behind, nullptr);
      heir.waiting_last = maker.waiting_last;
      heir.next_maker = maker.next_maker;
      *link = next;
    }
    maker.next_maker = nullptr;
  }
  while (served != nullptr) {
    FileRun& one = *served;
    served = one.sync_place.behind;  // before: it may be gone once it was started
    one.sync_place.error = error;
    one.driver->start(one);
  }
  if (next != nullptr) next->driver->start(*next);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
