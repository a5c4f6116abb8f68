// SPDX-License-Identifier: MIT
#include "kept_names.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <handoff/sync/mutex.hpp>
#include <iterator>
#include <new>

#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

enum class NameState : std::uint32_t {
  free,
  taken,  // the rest is being written
  expected,  // of a file that may be there
  made,  // of this file
};

struct NamePlace {
  NameState state = NameState::free;
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  char name[256] = {};  // as many as a name can have
};
struct NamePlaces {
  static constexpr std::size_t count = 128;
  pid_t owner = -1;
  NamePlace places[count];
};

struct {
  sync::Mutex mutex;
  NamePlaces* all = nullptr;  // of the process that is their owner
} constinit the_name_places;

// This process's places; null where there is no memory for them. Under the mutex.
NamePlaces* need_name_places() noexcept {
  NamePlaces*& all = the_name_places.all;
  if (all != nullptr && all->owner == ::getpid()) return all;
  if (all != nullptr) ::munmap(all, sizeof *all);
  all = nullptr;
  void* const memory = ::mmap(nullptr, sizeof(NamePlaces), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  all = ::new (memory) NamePlaces;
  all->owner = ::getpid();
  return all;
}

// Calls change(place) under the mutex, if this process has the place.
template <class Change>
void change_name_place(std::size_t at, pid_t owner, const Change& change) noexcept {
  const sync::SeenLock lock(the_name_places.mutex);
  NamePlaces* const all = the_name_places.all;
  if (all == nullptr || at >= NamePlaces::count || owner != ::getpid()) return;
  if (all->owner == owner) change(all->places[at]);
}

#if !defined(HANDOFF_EXPLORE)
// A shared object that is unloaded leaves no mapping behind.
struct NamePlacesEnd {
  NamePlacesEnd() noexcept = default;
  NamePlacesEnd(const NamePlacesEnd&) = delete;
  NamePlacesEnd& operator=(const NamePlacesEnd&) = delete;
  ~NamePlacesEnd() {
    const sync::SeenLock lock(the_name_places.mutex);
    if (the_name_places.all != nullptr) ::munmap(the_name_places.all, sizeof(NamePlaces));
    the_name_places.all = nullptr;
  }
};
const NamePlacesEnd the_name_places_end;
#endif

// The process was killed when the file had just been made, or not yet. What nobody has locked is of
// a creator that is gone.
void take_away_if_left(const char* name) noexcept {
  const Descriptor file(descriptors::of_shared_file(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  FileFacts facts;
  if (!file.is_open() || facts_of(file.get(), facts)) return;
  if (!S_ISREG(facts.mode) || facts.owner != ::geteuid()) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) remove_named(name, facts);
}

}  // namespace

void KeptName::expect(const char* name) noexcept {
  if (place_ != kNone || std::strlen(name) >= sizeof NamePlace::name) return;
  {
    const sync::SeenLock lock(the_name_places.mutex);
    NamePlaces* const all = need_name_places();
    if (all == nullptr) return;
    for (std::size_t i = 0; i < NamePlaces::count && place_ == kNone; ++i) {
      NamePlace& place = all->places[i];
      if (place.state != NameState::free) continue;
      place.state = NameState::taken;
      std::memcpy(place.name, name, std::strlen(name) + 1);
      place_ = i;
      owner_ = all->owner;
    }
  }
  change_name_place(place_, owner_,
                    [](NamePlace& place) noexcept { place.state = NameState::expected; });
}

void KeptName::is(const FileFacts& facts) noexcept {
  change_name_place(place_, owner_, [&](NamePlace& place) noexcept {
    place.device = facts.device;
    place.number = facts.number;
  });
  change_name_place(place_, owner_,
                    [](NamePlace& place) noexcept { place.state = NameState::made; });
}

void KeptName::give_back() noexcept {
  if (place_ == kNone) return;
  change_name_place(place_, owner_,
                    [](NamePlace& place) noexcept { place.state = NameState::free; });
}

bool has_names() noexcept {
  const sync::SeenLock lock(the_name_places.mutex);
  const NamePlaces* const all = the_name_places.all;
  return all != nullptr && all->owner == ::getpid() &&
         std::any_of(
             std::begin(all->places), std::end(all->places),
             [](const NamePlace& place) noexcept { return place.state != NameState::free; });
}

void have_places_for_names() noexcept {
  const sync::SeenLock lock(the_name_places.mutex);
  (void)need_name_places();
}

// The places were there before this process was forked, and it has one thread: no lock, which could
// be one that another thread held.
void take_away_names_of(pid_t program) noexcept {
  const NamePlaces* const all = the_name_places.all;
  if (all == nullptr || all->owner != program) return;
  for (const NamePlace& place : all->places) {
    if (place.state == NameState::made) {
      remove_named(place.name, {.device = place.device, .number = place.number});
    } else if (place.state == NameState::expected) {
      take_away_if_left(place.name);
    }
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
