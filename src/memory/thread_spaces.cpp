// SPDX-License-Identifier: MIT
#include <handoff/memory/internal/thread_spaces.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <memory>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Visitor>
void ThreadSpaces::each(const Visitor& visitor) const {
  for (ThreadSpace* space = first_; space != nullptr;) {
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

// Under the mutex.
ThreadSpace& ThreadSpaces::add(sync::ThreadId stranger) {
  void* const memory = sync::allocate(sizeof(ThreadSpace), alignof(ThreadSpace));
  auto* const space = ::new (memory) ThreadSpace(options_);
  space->stranger = stranger;
  space->next = first_;
  first_ = space;
  return *space;
}

ThreadSpace& ThreadSpaces::settle() {
  const sync::Lock lock(mutex_);
  ThreadSpace& space = add(nullptr);
  places_[LoneThread::place()] = &space;
  return space;
}

ThreadSpace& ThreadSpaces::of_stranger() {
  const sync::ThreadId me = sync::this_thread_id();
  const sync::Lock lock(mutex_);
  for (ThreadSpace* space = first_; space != nullptr; space = space->next) {
    if (space->stranger == me) return *space;
  }
  return add(me);
}

void ThreadSpaces::reset() noexcept {
  each([](ThreadSpace& space) {
    space.notes = nullptr;  // equivalent(swap): of this thread alone
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
