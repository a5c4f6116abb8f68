// SPDX-License-Identifier: MIT
//
// Slabs of 63 chunks and a header. A free chunk is a bit in its slab's header, so that its pages
// can go back to the system while the slab stays.
#include <handoff/event/chunk_pool.hpp>
#include <handoff/sync/allocate.hpp>
#include <new>

#if !defined(HANDOFF_EXPLORE)
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <handoff/sync/mutex.hpp>
#endif

namespace handoff::inline HANDOFF_ABI::detail {

#if defined(HANDOFF_EXPLORE)
// The model watches over each chunk by itself: leaks, double frees, uses after the end.

void* take_chunk() { return ::new (sync::allocate(kChunkBytes, kChunkBytes)) ChunkLayout; }
void give_chunk(void* chunk) noexcept { sync::deallocate(chunk, kChunkBytes, kChunkBytes); }
void trim_chunks() noexcept {}

#else
namespace {

constexpr std::size_t kChunks = 64;  // with the first one, which holds the header
constexpr std::size_t kSlabBytes = kChunks * kChunkBytes;
constexpr std::uint64_t kAllFree = ~std::uint64_t{1};
constexpr std::size_t kLooksApart = 1024;  // takings between two looks at what was never needed,
constexpr std::size_t kTurnovers = 4;      // and how often all chunks could have been taken

struct Slab {
  std::uint64_t free = kAllFree;  // a bit for each chunk
  std::uint64_t touched = 0;      // its pages may be there
  Slab* next = nullptr;

  void* chunk(unsigned index) noexcept {
    return reinterpret_cast<std::byte*>(this) + index * kChunkBytes;
  }
};

Slab& slab_of(void* chunk, std::size_t& index) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(chunk);
  index = address % kSlabBytes / kChunkBytes;
  return *reinterpret_cast<Slab*>(address - address % kSlabBytes);
}

// Slabs are taken from in the order of the list, so that the last ones fall free.
class Pool {
 public:
  void* take() {
    const sync::Lock lock(mutex_);
    if (first_with_free_ == nullptr) add_slab();
    Slab& slab = *first_with_free_;
    const auto index = static_cast<unsigned>(std::countr_zero(slab.free));
    const std::uint64_t bit = std::uint64_t{1} << index;
    slab.free &= ~bit;
    --free_;
    least_free_ = std::min(least_free_, free_);
    while (first_with_free_ != nullptr && first_with_free_->free == 0) {
      first_with_free_ = first_with_free_->next;
    }
    if (++taken_ >= std::max(kLooksApart, kTurnovers * chunks_)) {
      give_back(least_free_);
      least_free_ = free_;
      taken_ = 0;
    }
    void* const chunk = slab.chunk(index);
    if ((slab.touched & bit) == 0) {
      slab.touched |= bit;
      ::new (chunk) ChunkLayout;
    }
    return chunk;
  }

  void give(void* chunk) noexcept {
    std::size_t index = 0;
    Slab& slab = slab_of(chunk, index);
    const sync::Lock lock(mutex_);
    slab.free |= std::uint64_t{1} << index;
    ++free_;
    // Lower addresses first: of the slabs in use the same few stay in use.
    if (first_with_free_ == nullptr || precedes(slab, *first_with_free_)) first_with_free_ = &slab;
  }

  void trim() noexcept {
    const sync::Lock lock(mutex_);
    give_back(free_);
    least_free_ = free_;
  }

 private:
  static bool precedes(const Slab& a, const Slab& b) noexcept { return &a < &b; }

  // In the order of addresses.
  void add_slab() {
    auto* const slab = ::new (sync::allocate(kSlabBytes, kSlabBytes)) Slab;
    Slab** link = &first_;
    while (*link != nullptr && precedes(**link, *slab)) link = &(*link)->next;
    slab->next = *link;
    *link = slab;
    first_with_free_ = slab;
    free_ += kChunks - 1;
    chunks_ += kChunks - 1;
  }

  // The pages of so many free chunks, the last in the order of taking; those of whole slabs with
  // their addresses.
  void give_back(std::size_t count) noexcept {
    std::size_t keep = free_ - count;
    for (Slab** link = &first_; *link != nullptr;) {
      Slab& slab = **link;
      const bool unused = keep == 0 && slab.free == kAllFree;
      for (std::uint64_t bits = slab.free; bits != 0; bits &= bits - 1) {
        if (keep > 0) {
          --keep;
          continue;
        }
        const auto index = static_cast<unsigned>(std::countr_zero(bits));
        const std::uint64_t bit = std::uint64_t{1} << index;
        if ((slab.touched & bit) == 0) continue;
        ::madvise(slab.chunk(index), kChunkBytes, MADV_DONTNEED);
        slab.touched &= ~bit;
      }
      if (!unused) {
        link = &slab.next;
        continue;
      }
      *link = slab.next;
      free_ -= kChunks - 1;
      chunks_ -= kChunks - 1;
      sync::deallocate(&slab, kSlabBytes, kSlabBytes);
    }
    first_with_free_ = first_;
    while (first_with_free_ != nullptr && first_with_free_->free == 0) {
      first_with_free_ = first_with_free_->next;
    }
  }

  sync::Mutex mutex_;
  Slab* first_ = nullptr;
  Slab* first_with_free_ = nullptr;  // the first in the list that has a free chunk
  std::size_t chunks_ = 0;
  std::size_t free_ = 0;
  std::size_t least_free_ = 0;  // since the last look
  std::size_t taken_ = 0;       // since the last look
};

constinit Pool pool;

}  // namespace

void* take_chunk() { return pool.take(); }
void give_chunk(void* chunk) noexcept { pool.give(chunk); }
void trim_chunks() noexcept { pool.trim(); }
#endif

}  // namespace handoff::inline HANDOFF_ABI::detail
