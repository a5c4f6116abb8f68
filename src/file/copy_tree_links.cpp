// SPDX-License-Identifier: MIT
//
// Files with several names, and the end of a durable copy: sync, then names.
#include <errno.h>

#include "../sync/internal/seen_sanitizer.hpp"
#include "copy_tree_job.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// If a file has several names, the first that is met is copied; the others are linked to the copy
// when it is whole. If it cannot be, the next one is tried.
CopyJob::Claim CopyJob::claim(CopyFolder& folder, const CopyEntry& entry,
                              const struct statx& attributes) {
  if (attributes.stx_nlink < 2) return Claim::first;
  Place place;
  {
    sync::SeenLock lock(mutex_);
    const auto [found, is_new] = links_.try_emplace(id_of(attributes));
    if (is_new) return Claim::first;
    Link& link = found->second;
    if (!link.ready) {
      link.waiters.push_back({&folder, entry});
      folders_.add_work(folder);
      return Claim::waits;
    }
    place = link.place;
  }
  link_to(place, folder, entry, attributes);
  return Claim::linked;
}

void CopyJob::link_to(const Place& place, CopyFolder& folder, const CopyEntry& entry,
                      const struct statx& attributes) {
  std::string temporary;
  const std::string& name = new_name(folder, entry, temporary);
  long result = folders_.pin(*place.folder);
  if (result < 0) return problem(to_path(folder, entry), {"open what it is linked to"}, result);
  result = calls_.link(place.folder->to, place.name.c_str(), folder.to, name.c_str());
  folders_.unpin(*place.folder);
  if (result < 0) return problem(to_path(folder, entry), {"link"}, result);
  if (!give_name(folder, entry, temporary)) return;
  sync::SeenLock lock(mutex_);
  ++count_of(attributes);
}

// The copy stands, whole, under `temporary`, or its own name.
void CopyJob::publish(CopyFolder& folder, const CopyEntry& entry, const std::string& temporary,
                      FileId id, CopyWorker& worker) noexcept {
  if (id == FileId{}) return;
  std::vector<Waiter> waiters;
  const bool noted = attempt([&] {
    Place place{&folder, temporary.empty() ? entry.target() : temporary};
    sync::SeenLock lock(mutex_);
    Link& link = links_[id];
    link.ready = true;
    link.place = std::move(place);
    waiters.swap(link.waiters);
  });
  if (!noted) {
    problem(to_path(folder, entry), {"keep its hard links"}, -ENOMEM);
    return withdraw(id, worker);
  }
  folders_.retain(folder);  // until the end
  send(std::move(waiters), worker);
}

void CopyJob::withdraw(FileId id, CopyWorker& worker) noexcept {
  if (id == FileId{}) return;
  std::vector<Waiter> waiters;
  {
    sync::SeenLock lock(mutex_);
    const auto found = links_.find(id);
    if (found == links_.end()) return;
    waiters.swap(found->second.waiters);
    links_.erase(found);
  }
  send(std::move(waiters), worker);
}

// As they wait they are work of their folders: that of a new task is one more.
void CopyJob::send(std::vector<Waiter> waiters, CopyWorker& worker) noexcept {
  for (Waiter& waiter : waiters) {
    CopyFolder& folder = *waiter.folder;
    call_safely({&folder, {}, false}, [&] {
      std::vector<CopyEntry> one;
      one.push_back(std::move(waiter.entry));
      push(folder, 1, &worker,
           [this, &folder, one = std::move(one)](CopyWorker& its) { run_batch(folder, one, its); });
    });
    end_work(folder, worker);
  }
}

// After the last task. What fails to be synced does not get its name.
void CopyJob::name_all(CopyWorker& worker) noexcept {
  const bool synced = !options_.durable || sync_all();
  for (const Pending& entry : pending_) {
    CopyFolder& folder = *entry.folder;
    long result = synced ? folders_.pin(folder) : 0;
    if (synced && result == 0) {
      result = calls_.rename(folder.to, entry.temporary.c_str(), entry.name.c_str());
      if (result == 0 && entry.made != nullptr) folders_.named(*entry.made);
      folders_.unpin(folder);
    }
    if (!synced || result < 0) {
      const char* const said = synced ? "is left as " : "was not synced, and is left as ";
      problem({&folder, entry.name, true}, {said, entry.temporary}, result);
    }
    end_work(folder, worker);
    if (entry.made != nullptr) folders_.release(entry.made);
    folders_.release(&folder);
  }
  if (synced && !pending_.empty()) static_cast<void>(sync_all());
}

bool CopyJob::sync_all() noexcept {
  bool synced = true;
  for (const FileSystem& system : file_systems_) {
    const long result = calls_.sync_file_system(system.descriptor);
    if (result >= 0) continue;
    synced = false;
    problem(system.path, {"sync what was written, nothing counts as durable"}, result);
  }
  return synced;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
