// SPDX-License-Identifier: MIT
//
// One value for each thread that may run tasks of a pool.
//
//   handoff::PerWorker<Histogram> counts(pool);
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) { counts.here().add(data[i]); });
//   for (Histogram& h : counts) total.merge(h);
//
// For: results that are merged at the end, scratch memory. Not for: sums (parallel_reduce).
// Concurrency: here() inside tasks of the pool, and in its loops of up to 64 callers from outside
// at once; each thread sees its own. What a thread from outside runs in an algorithm, a graph or a
// pipeline is no task of the pool. The rest when no task that uses it is unfinished. A task that
// waits may meanwhile run others, on the same value.
// Allocates: the constructor. Throws: what making the values throws; here() elsewhere is misuse.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/cache_line.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class PerWorker {
  struct alignas(sync::destructive_span) Slot {
    T value{};
  };

 public:
  // The pool outlives it.
  explicit PerWorker(const ThreadPool& pool) : pool_(pool), slots_(pool.index_count()) {}

  // The calling thread's value. Misuse outside the tasks of the pool.
  T& here() {
    const std::optional<std::size_t> index = pool_.worker_index();
    if (!index) misuse("PerWorker: here() outside the tasks of its pool");
    return slots_[*index].value;
  }

  // Over the values of all threads that there may be, index_count() of them; most of them unused.
  class Iterator {
   public:
    explicit Iterator(Slot* slot) noexcept : slot_(slot) {}
    T& operator*() const noexcept { return slot_->value; }
    Iterator& operator++() noexcept {
      ++slot_;
      return *this;
    }
    friend bool operator==(Iterator, Iterator) noexcept = default;

   private:
    Slot* slot_;
  };
  Iterator begin() noexcept { return Iterator(slots_.data()); }
  Iterator end() noexcept { return Iterator(slots_.data() + slots_.size()); }

 private:
  const ThreadPool& pool_;
  std::vector<Slot> slots_;
};

}}  // namespace handoff::HANDOFF_ABI
