// SPDX-License-Identifier: MIT
//
// The book of the pool that event queues have their chunks from. Not in an exploring build, which
// has no such pool.
#pragma once

#include <cstddef>
#include <string>

// Of the library's sources: for targets that have src/ in their path.
#include <memory/slab_pool.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The slabs are in the order of their addresses, and the counts are theirs.
template <>
struct Books<SlabPool> {
  static std::size_t in_use(const SlabPool& pool) { return pool.chunks_ - pool.free_; }
  static std::size_t slabs(const SlabPool& pool) { return pool.chunks_ / (kChunks - 1); }

  // Free chunks whose pages have not been given back.
  static std::size_t kept(const SlabPool& pool) {
    std::size_t count = 0;
    for (const Slab* slab = pool.first_; slab != nullptr; slab = slab->next) {
      for (std::size_t i = 1; i < kChunks; ++i) {
        if (slab->free.has(i) && slab->touched.has(i)) ++count;
      }
    }
    return count;
  }

  static std::string fault(const SlabPool& pool) {
    std::size_t chunks = 0;
    std::size_t free = 0;
    const Slab* with_free = nullptr;
    for (const Slab* slab = pool.first_; slab != nullptr; slab = slab->next) {
      if (slab->next != nullptr && slab->next <= slab) return "SlabPool: the slabs' order";
      if (slab->free.has(0)) return "SlabPool: a header counts as a free chunk";
      if (with_free == nullptr && !slab->full()) with_free = slab;
      chunks += kChunks - 1;
      free += slab->free.count();
    }
    if (chunks != pool.chunks_) return "SlabPool: the count of chunks";
    if (free != pool.free_) return "SlabPool: the count of free chunks";
    if (pool.least_free_ > free) return "SlabPool: the least that were free";
    if (with_free != pool.first_with_free_) return "SlabPool: the first with a free chunk";
    return {};
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
