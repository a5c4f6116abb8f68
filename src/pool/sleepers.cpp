// SPDX-License-Identifier: MIT
//
// The lists of a pool's workers that sleep or are absent. Proof: docs/design/thread_pool.md.
#include <handoff/pool/detail/sleepers.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

Sleepers::Place* Sleepers::wake_one() noexcept {
  Place* place = nullptr;
  {
    const sync::Lock lock(mutex_);
    if (!wanted()) return nullptr;
    place = top_.read();
    if (place == nullptr) return take_absent();
    unlist(*place);
  }
  rouse(*place);
  return nullptr;
}

void Sleepers::wake_present() noexcept {
  Place* place = nullptr;
  {
    const sync::Lock lock(mutex_);
    place = top_.read();
    if (place == nullptr || !wanted()) return;
    unlist(*place);
  }
  rouse(*place);
}

void Sleepers::wake_all() noexcept {
  for (;;) {
    Place* place = nullptr;
    {
      const sync::Lock lock(mutex_);
      place = top_.read();
      if (place == nullptr) return;
      unlist(*place);
    }
    rouse(*place);
  }
}

void Sleepers::begin_absent(Place& place) noexcept {
  const sync::Lock lock(mutex_);
  list_absent(place);
  state_.fetch_add(kSleeping, sync::order::relaxed);  // order: relaxed, nobody relies on it yet
}

void Sleepers::put_back(Place& place) noexcept {
  const sync::Deadline later = sync::deadline_after(kRefusedFor);
  const sync::Lock lock(mutex_);
  refused_until_.write() = later;
  list_absent(place);
  // order: relaxed, a fence comes before the look in wanted_for().
  state_.fetch_add(kSleeping - kSearching, sync::order::relaxed);
}

Sleepers::Place* Sleepers::withdraw_from(std::size_t number) noexcept {
  const sync::Lock lock(mutex_);
  Place* const place = first_from(absent_, number);
  if (place == nullptr) return nullptr;
  remove(*place);
  state_.fetch_sub(kSleeping, sync::order::relaxed);  // order: relaxed, a reader looks again
  return place;
}

void Sleepers::wake_from(std::size_t number) noexcept {
  Place* place = nullptr;
  {
    const sync::Lock lock(mutex_);
    place = first_from(top_, number);
    if (place == nullptr) return;
    unlist(*place);
  }
  rouse(*place);
}

void Sleepers::wake(Place& place) noexcept {
  {
    const sync::Lock lock(mutex_);
    if (place.listed_.read() != Listed::asleep) return;
    unlist(place);
  }
  rouse(place);
}

bool Sleepers::call(Place& place) noexcept {
  const sync::Lock lock(mutex_);
  if (place.listed_.read() != Listed::absent) return false;
  unlist(place);
  return true;
}

void Sleepers::forget_absent() noexcept {
  const sync::Lock lock(mutex_);
  for (Place* place = absent_.read(); place != nullptr; place = place->below_.read()) {
    place->listed_.write() = Listed::nowhere;
    state_.fetch_sub(kSleeping, sync::order::relaxed);  // order: relaxed, a matter of speed
  }
  absent_.write() = nullptr;
}

std::uint64_t Sleepers::list(Place& place) noexcept {
  const sync::Lock lock(mutex_);
  place.below_.write() = top_.read();
  place.listed_.write() = Listed::asleep;
  top_.write() = &place;
  // order: relaxed, fenced later
  return sleeping(state_.fetch_add(kSleeping - kSearching, sync::order::relaxed)) + 1;
}

void Sleepers::unlist(Place& place) noexcept {
  remove(place);
  // order: relaxed, as in begin_search().
  state_.fetch_sub(kSleeping - kSearching, sync::order::relaxed);
}

Sleepers::Place* Sleepers::first_from(const sync::cell<Place*>& first,
                                      std::size_t number) noexcept {
  Place* place = first.read();
  while (place != nullptr && place->number < number) place = place->below_.read();
  return place;
}

void Sleepers::remove(Place& place) noexcept {
  sync::cell<Place*>* link = place.listed_.read() == Listed::asleep ? &top_ : &absent_;
  while (link->read() != &place) link = &link->read()->below_;
  link->write() = place.below_.read();
  place.listed_.write() = Listed::nowhere;
}

bool Sleepers::unlist_if_listed(Place& place) noexcept {
  const sync::Lock lock(mutex_);
  if (place.listed_.read() == Listed::nowhere) return false;
  unlist(place);
  return true;
}

void Sleepers::list_absent(Place& place) noexcept {
  place.below_.write() = absent_.read();
  place.listed_.write() = Listed::absent;
  absent_.write() = &place;
}

Sleepers::Place* Sleepers::take_absent() noexcept {
  Place* const place = absent_.read();
  if (place == nullptr) return nullptr;
  const sync::Deadline refused_until = refused_until_.read();
  if (refused_until != sync::Deadline{} && sync::clock::now() < refused_until) return nullptr;
  unlist(*place);
  return place;
}

void Sleepers::rouse(Place& place) noexcept {
  place.woken_.store(true, sync::order::relaxed);  // order: relaxed, nothing comes with it
  place.bed_.notify_one();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
