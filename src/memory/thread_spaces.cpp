// SPDX-License-Identifier: MIT
#include <handoff/memory/detail/thread_spaces.hpp>
#include <handoff/sync/detail/allocate.hpp>
#include <memory>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Visitor>
void ThreadSpaces::each(const Visitor& visitor) const {
  for (const Place& place : places_) {
    // order: acquire pairs with the release in settle(): the space is made.
    ThreadSpace* const space = place.space.load(sync::order::acquire);
    if (space != nullptr) visitor(*space);
  }
  for (ThreadSpace* space = strangers_; space != nullptr;) {
    ThreadSpace* const next = space->next;
    visitor(*space);
    space = next;
  }
}

ThreadSpaces::~ThreadSpaces() {
  each([](ThreadSpace& space) {
    std::destroy_at(&space);
    sync::deallocate(&space, sizeof(ThreadSpace), alignof(ThreadSpace));
  });
}

ThreadSpace* ThreadSpaces::make() const {
  void* const memory = sync::allocate(sizeof(ThreadSpace), alignof(ThreadSpace));
  return ::new (memory) ThreadSpace(options_);
}

ThreadSpace& ThreadSpaces::settle() {
  ThreadSpace* const space = make();
  // order: release pairs with the acquire in each().
  places_[LoneThread::place()].space.store(space, sync::order::release);
  return *space;
}

ThreadSpace& ThreadSpaces::of_stranger() {
  const sync::ThreadId me = sync::this_thread_id();
  const sync::Lock lock(mutex_);
  for (ThreadSpace* space = strangers_; space != nullptr; space = space->next) {
    if (space->stranger == me) return *space;
  }
  ThreadSpace* const space = make();
  space->stranger = me;
  space->next = strangers_;
  strangers_ = space;
  return *space;
}

void ThreadSpaces::reset() noexcept {
  each([](ThreadSpace& space) {
    space.notes = nullptr;
    space.arena.reset();
  });
}

std::size_t ThreadSpaces::count() const noexcept {
  std::size_t count = 0;
  each([&](const ThreadSpace& /*space*/) { ++count; });
  return count;
}

std::size_t ThreadSpaces::memory() const noexcept {
  std::size_t bytes = 0;
  each([&](const ThreadSpace& space) { bytes += space.arena.memory(); });
  return bytes;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
