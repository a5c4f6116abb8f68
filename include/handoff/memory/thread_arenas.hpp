// SPDX-License-Identifier: MIT
//
// A LinearArena for each thread that uses it.
//
//   handoff::ThreadArenas arenas;
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) {
//     results[i] = arenas.mine().make<Result>(compute(i));  // no lock, no shared line
//   });
//   // ... use the results ...
//   arenas.reset();
//
// For: objects that many threads make and that end together. Not for: memory that is reused while a
// reader may still need it (Frame).
//
// - Concurrency: mine() and allocate() by any thread; each thread uses only its own arena. reset()
//   and the figures only while no other thread uses its arena, e.g. after a loop or a join.
// - Threads may come and go, without a call at their end. Objects of an ended thread stay, and a
//   later thread gets its arena. So there are as many arenas as threads that lived at the same
//   time.
// - Blocks: never, except for a short lock when a thread is new, or if more than 256 threads
//   allocate. Allocates: as LinearArena, and once for each thread its arena. Throws:
//   std::bad_alloc.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/memory/internal/thread_spaces.hpp>
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
