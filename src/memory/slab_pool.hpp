// SPDX-License-Identifier: MIT
//
// Slabs of 127 chunks and a header. A free chunk is a bit in its slab's header, so that its pages
// can go back to the system while the slab stays. All slabs but the first may be huge pages: a
// program that needs them walks over more pages than the processor can translate at once.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <handoff/core/internal/books.hpp>
#include <handoff/memory/internal/chunk_pool.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/mutex.hpp>
#include <new>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr std::size_t kChunks = 128;  // with the first one, which holds the header
inline constexpr std::size_t kSlabBytes = kChunks * kChunkBytes;  // a huge page of most machines
// Takings between two looks at what was never needed, and how often all chunks could have been
// taken.
inline constexpr std::size_t kLooksApart = 1024;
inline constexpr std::size_t kTurnovers = 4;

// A bit for each chunk of a slab.
class Marks {
 public:
  bool has(std::size_t index) const noexcept { return (words_[index / 64] & bit(index)) != 0; }
  void set(std::size_t index) noexcept { words_[index / 64] |= bit(index); }
  void clear(std::size_t index) noexcept { words_[index / 64] &= ~bit(index); }
  // The first one set; kChunks: there is none.
  std::size_t first() const noexcept {
    std::size_t word = 0;
    while (word < words_.size() && words_[word] == 0) ++word;
    if (word == words_.size()) return kChunks;
    return word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]));
  }
  std::size_t count() const noexcept {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }

 private:
  static std::uint64_t bit(std::size_t index) noexcept { return std::uint64_t{1} << index % 64; }

  std::array<std::uint64_t, kChunks / 64> words_{};
};

struct Slab {
  Marks free;
  Marks touched;  // its pages may be there
  Slab* next = nullptr;

  Slab() noexcept {
    // equivalent(bound): sets a bit of the chunk with the header, which nobody asks for
    for (std::size_t i = 1; i < kChunks; ++i) free.set(i);
  }
  bool full() const noexcept { return free.first() == kChunks; }
  bool unused() const noexcept { return free.count() == kChunks - 1; }
  void* chunk(std::size_t index) noexcept {
    return reinterpret_cast<std::byte*>(this) + index * kChunkBytes;
  }
};

inline Slab& slab_of(void* chunk, std::size_t& index) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(chunk);
  index = address % kSlabBytes / kChunkBytes;
  return *reinterpret_cast<Slab*>(address - address % kSlabBytes);
}

// Slabs are taken from in the order of the list, so that the last ones fall free.
class SlabPool {
 public:
  void* take() {
    const sync::Lock lock(mutex_);
    if (first_with_free_ == nullptr) add_slab();
    Slab& slab = *first_with_free_;
    const std::size_t index = slab.free.first();
    slab.free.clear(index);  // equivalent(swap): under the mutex
    --free_;
    least_free_ = std::min(least_free_, free_);  // equivalent(swap): under the mutex
    pass_full();
    // equivalent(bound): only speed: one taking later
    if (++taken_ >= std::max(kLooksApart, kTurnovers * chunks_)) {
      give_back(least_free_);  // equivalent(swap): under the mutex
      taken_ = 0;
    }
    void* const chunk = slab.chunk(index);
    sync::tell_taken(chunk);
    if (!slab.touched.has(index)) {
      slab.touched.set(index);  // equivalent(swap): under the mutex
      ::new (chunk) ChunkLayout;
    }
    return chunk;
  }

  void give(void* chunk) noexcept {
    std::size_t index = 0;
    Slab& slab = slab_of(chunk, index);
    sync::tell_given(chunk);
    const sync::Lock lock(mutex_);
    slab.free.set(index);  // equivalent(swap): under the mutex
    ++free_;
    if (ending_) [[unlikely]]
      return give_back(free_);
    // Lower addresses first: of the slabs in use the same few stay in use.
    if (first_with_free_ == nullptr || precedes(slab, *first_with_free_)) first_with_free_ = &slab;
  }

  // From now on what falls free goes back at once.
  void end() noexcept {
    const sync::Lock lock(mutex_);
    ending_ = true;  // equivalent(swap): under the mutex
    give_back(free_);
  }

  void trim() noexcept {
    const sync::Lock lock(mutex_);
    give_back(free_);
  }

 private:
  template <class>
  friend struct Books;

  // equivalent(bound): no slab is compared with itself
  static bool precedes(const Slab& a, const Slab& b) noexcept { return &a < &b; }

  void pass_full() noexcept {
    while (first_with_free_ != nullptr && first_with_free_->full()) {
      first_with_free_ = first_with_free_->next;
    }
  }

  // In the order of addresses.
  void add_slab() {
    const sync::MadeForAll unseen;
    void* const memory = sync::allocate(kSlabBytes, kSlabBytes);
    // Not the first: a queue of few events would have two megabytes.
    // equivalent(negate): how large the pages are that the system gives: speed
    if (first_ != nullptr) ::madvise(memory, kSlabBytes, MADV_HUGEPAGE);
    auto* const slab = ::new (memory) Slab;
    Slab** link = &first_;
    while (*link != nullptr && precedes(**link, *slab)) link = &(*link)->next;
    slab->next = *link;
    *link = slab;
    first_with_free_ = slab;
    free_ += kChunks - 1;
    chunks_ += kChunks - 1;
  }

  // The pages of `count` free chunks, the last in the order of taking; those of whole slabs with
  // their addresses.
  void give_back(std::size_t count) noexcept {
    const sync::MadeForAll unseen;
    std::size_t keep = free_ - count;
    for (Slab** link = &first_; *link != nullptr;) {
      Slab& slab = **link;
      if (keep > 0 || !slab.unused()) {
        give_back_pages(slab, keep);  // equivalent(swap): under the mutex
        link = &slab.next;
        continue;
      }
      *link = slab.next;
      free_ -= kChunks - 1;
      chunks_ -= kChunks - 1;  // equivalent(swap): under the mutex
      ::madvise(&slab, kSlabBytes, MADV_DONTNEED);  // a thread that deallocates may keep it
      sync::deallocate(&slab, kSlabBytes, kSlabBytes);
    }
    least_free_ = free_;
    first_with_free_ = first_;
    pass_full();
  }

  // Those of its free chunks, except the first `keep`, which are counted off.
  static void give_back_pages(Slab& slab, std::size_t& keep) noexcept {
    for (Marks left = slab.free; left.first() != kChunks;) {
      const std::size_t index = left.first();
      left.clear(index);
      if (keep > 0) {
        --keep;
      } else if (slab.touched.has(index)) {
        // equivalent(swap): under the mutex
        ::madvise(slab.chunk(index), kChunkBytes, MADV_DONTNEED);
        slab.touched.clear(index);
      }
    }
  }

  sync::Mutex mutex_;
  Slab* first_ = nullptr;
  Slab* first_with_free_ = nullptr;  // the first in the list that has a free chunk
  std::size_t chunks_ = 0;
  std::size_t free_ = 0;
  std::size_t least_free_ = 0;  // since the last look
  std::size_t taken_ = 0;  // since the last look
  bool ending_ = false;
};

extern SlabPool slab_pool;  // of the process

}}}  // namespace handoff::HANDOFF_ABI::detail
