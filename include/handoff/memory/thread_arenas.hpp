// SPDX-License-Identifier: MIT
//
// A LinearArena for each thread that comes along.
//
//   handoff::ThreadArenas arenas;
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) {
//     results[i] = arenas.mine().make<Result>(compute(i));  // no lock, no shared line
//   });
//   // ... use the results ...
//   arenas.reset();
//
// For: what many threads make and one moment ends. Not for: memory that is to be written again
// while a late reader may still look (Frame).
//
// - Concurrency: mine() and allocate() by any thread; an arena is that of its thread. reset() and
//   the figures while no other thread uses its arena; the end of a loop or a join orders that.
// - Threads may come and go, and be of any kind: nothing of it hangs on the thread's own storage,
//   and nothing must be said before a thread's end. What an ended thread made stays; its arena is
//   that of a thread that comes later. So there are as many as threads have lived at the same time.
// - Blocks: never, but for a short lock when a thread is new, or where more than 256 threads
//   allocate. Allocates: as LinearArena, and the arena itself once a thread. Throws:
//   std::bad_alloc.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/memory/detail/thread_spaces.hpp>
#include <handoff/memory/linear_arena.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class ThreadArenas {
 public:
  // Each with these options.
  explicit ThreadArenas(const LinearArenaOptions& options = {}) noexcept : spaces_(options) {}

  // That of the calling thread.
  [[nodiscard]] LinearArena& mine() { return spaces_.mine().arena; }
  [[nodiscard]] void* allocate(std::size_t bytes,
                               std::size_t alignment = LinearArena::usual_alignment) {
    return mine().allocate(bytes, alignment);
  }

  // Everything that any thread has made is gone. A step for each chunk.
  void reset() noexcept { spaces_.reset(); }

  // How many arenas there are, and the bytes that they have from the system.
  [[nodiscard]] std::size_t arenas() const noexcept { return spaces_.count(); }
  [[nodiscard]] std::size_t memory() const noexcept { return spaces_.memory(); }

 private:
  detail::ThreadSpaces spaces_;
};

}}  // namespace handoff::HANDOFF_ABI
