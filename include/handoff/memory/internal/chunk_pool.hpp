// SPDX-License-Identifier: MIT
//
// The memory of event queues: chunks of one size, shared by all queues of the process, so that a
// queue that begins finds what another one has left, without page faults.
//
// What was not needed for a while goes back to the system by itself (as many chunks as were free
// all the time while four times as many were taken as there are), all of it by trim_chunks().
// Concurrency: any thread, under a lock. Allocates: take_chunk(), std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Also its alignment: the bits below are free for a position in the chunk.
inline constexpr std::size_t kChunkBytes = std::size_t{16} * 1024;

// At the start of each chunk; survives its time in the pool.
struct ChunkLayout {
  // Names what the rest of the chunk was made as, with all places free; 0: nothing yet.
  std::uint64_t made_as = 0;
};

// Holds a ChunkLayout; all else is the caller's.
[[nodiscard]] void* take_chunk();
void give_chunk(void* chunk) noexcept;

// Gives the pages of all free chunks back to the system.
void trim_chunks() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
