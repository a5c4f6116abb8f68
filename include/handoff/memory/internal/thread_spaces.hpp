// SPDX-License-Identifier: MIT
//
// An arena for each thread that comes along, and what other rooms note beside it. Not for users:
// they have ThreadArenas.
//
// A thread's place is that of its number among the living (thread_id.hpp). When it has ended
// another one gets the place, and goes on in the arena behind what is there: so there are as many
// arenas as threads have lived at the same time, and what an ended thread made stays until the
// reset. A thread that has no number, because too many live or because it is ending, is found by
// its id, under a lock. Concurrency: mine() by any thread, its result is that thread's; reset() and
// the figures while no other thread is in its own. Allocates: mine(), once a place.
#pragma once

#include <array>
#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/memory/internal/thread_id.hpp>
#include <handoff/memory/linear_arena.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What a user of the arenas keeps of a thread. It lies in the arena, and is gone with a reset.
struct ThreadNote {
  ThreadNote* next = nullptr;
  const void* whose = nullptr;
};

struct alignas(sync::destructive_span) ThreadSpace {
  explicit ThreadSpace(const LinearArenaOptions& options) noexcept : arena(options) {}

  LinearArena arena;
  ThreadNote* notes = nullptr;
  sync::ThreadId stranger = nullptr;  // whose it is, if found by the id
  ThreadSpace* next = nullptr;  // of all
};

class ThreadSpaces {
 public:
  explicit ThreadSpaces(const LinearArenaOptions& options) noexcept : options_(options) {}
  ~ThreadSpaces();

  // This thread's. Throws std::bad_alloc.
  ThreadSpace& mine() {
    if (LoneThread::number() == 0 && !LoneThread::enroll()) [[unlikely]]
      return of_stranger();
    ThreadSpace* const space = places_[LoneThread::place()];
    return space != nullptr ? *space : settle();
  }

  // Null: this thread has none yet, or is found by its id.
  ThreadSpace* find() const noexcept {
    return LoneThread::number() != 0 ? places_[LoneThread::place()] : nullptr;
  }

  // Everything that any thread has made is gone.
  void reset() noexcept;

  // How many arenas there are, and the bytes that they have from the system.
  [[nodiscard]] std::size_t count() const noexcept;
  [[nodiscard]] std::size_t memory() const noexcept;

 private:
  template <class>
  friend struct Books;

  ThreadSpace& settle();
  ThreadSpace& of_stranger();
  ThreadSpace& add(sync::ThreadId stranger);
  template <class Visitor>
  void each(const Visitor& visitor) const;

  const LinearArenaOptions options_;
  // Each of the thread that has the place's number. One that comes after it is ordered by
  // LoneThread.
  std::array<ThreadSpace*, LoneThread::kMost> places_{};
  sync::Mutex mutex_;
  ThreadSpace* first_ = nullptr;  // of all; written under the mutex
};

}}}  // namespace handoff::HANDOFF_ABI::detail
