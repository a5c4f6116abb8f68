// SPDX-License-Identifier: MIT
//
// Where the chunks come from: slabs, or, one by one, the model's memory.
#include <handoff/memory/internal/chunk_pool.hpp>

#if defined(HANDOFF_EXPLORE)
#include <handoff/sync/internal/allocate.hpp>
#include <new>
#else
#include "slab_pool.hpp"
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

#if defined(HANDOFF_EXPLORE)
// The model watches over each chunk by itself: leaks, double frees, uses after the end.

void* take_chunk() { return ::new (sync::allocate(kChunkBytes, kChunkBytes)) ChunkLayout; }
void give_chunk(void* chunk) noexcept { sync::deallocate(chunk, kChunkBytes, kChunkBytes); }
void trim_chunks() noexcept {}

#else

constinit SlabPool slab_pool;

namespace {

// A shared object with this pool may be unloaded, and leave no slab behind. Queues may live longer
// than this, and the pool does: it has no destructor.
const struct End {
  ~End() { slab_pool.end(); }
} at_the_end;

}  // namespace

void* take_chunk() { return slab_pool.take(); }
void give_chunk(void* chunk) noexcept { slab_pool.give(chunk); }
void trim_chunks() noexcept { slab_pool.trim(); }
#endif

}}}  // namespace handoff::HANDOFF_ABI::detail
