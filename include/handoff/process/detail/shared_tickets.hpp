// SPDX-License-Identifier: MIT
//
// The places of a queue in shared memory from many producers to one consumer, of which any process
// may die at any step. SharedMpscRing says what lies in them. Not for users.
//
// Each place has a word, which says of one lap in which state it is:
//
//   free -> claimed by producer p -> full -> free in the next lap
//                       |`-> dropped -> free in the next lap
//   free -> sealed: the ring is closed and drained
//
// A claim is the exchange of the place's word, in which the producer leaves its number. So the
// claim of a dead one is found by looking, and nothing else need be known of it. `tail` is a hint
// where to look for a free place, which anybody moves on behind a place that is not free any more.
//   SK-1  A claimed place is changed by its producer alone; after its death, which the kernel has
//         confirmed, by the one that says producer_died().
//   SK-2  Places are claimed in order: a place is claimed only once `tail` has come to it, and
//         `tail` passes a place only after it was claimed. So a sealed place is the end.
//   SK-3  Words, positions and numbers that another process may have written are read once, and
//         are never more than compared, or used as a position that is cut to the ring.
// Concurrency: claim() to drop() by any producer, each number by one thread at a time; find() and
//   release() by the consumer; bury() by one thread at a time.
// Blocks: never. Allocates: never.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct SharedTicketWords {
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> tail{0};  // the next claim, or before
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> head{0};  // the consumer's
  alignas(sync::destructive_span) SharedBell items;  // the consumer sleeps here; the close bit
  SharedBell room;  // producers sleep here
};

// A view, a value. Places are `stride` bytes apart, and each begins with its word.
class SharedTickets {
 public:
  using Word = sync::atomic<std::uint64_t>;

  SharedTickets(SharedTicketWords& words, std::byte* places, std::size_t stride,
                std::size_t capacity) noexcept;

  [[nodiscard]] SharedTicketWords& words() const noexcept { return *words_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
  // Where the place of a position begins.
  [[nodiscard]] std::byte* place(std::uint64_t position) const noexcept {
    return places_ + (static_cast<std::size_t>(position) & mask_) * stride_;
  }

  void close() noexcept;
  [[nodiscard]] std::size_t was_size() const noexcept;

  // --- A producer. ---

  // A place that is this producer's now: ok, full or closed. `damaged` if what lies there cannot
  // be: then closed.
  Status claim(std::uint32_t producer, std::uint64_t& position, bool& damaged) noexcept;
  // Exactly one of these for each claim.
  void publish(std::uint64_t position) noexcept;
  void drop(std::uint64_t position) noexcept;

  // --- The consumer. ---

  // Where the consumer before has come to.
  [[nodiscard]] std::uint64_t first() const noexcept;
  // Passes what was dropped: ok, empty or closed.
  Status find(std::uint64_t& position, bool& damaged) noexcept;
  // What changes once find() says something else than `empty` to this position.
  [[nodiscard]] RingWatch watch(std::uint64_t position) const noexcept;
  // The place may be claimed for the next lap.
  void release(std::uint64_t position) noexcept;

  // --- The one that knows of deaths. ---

  // Drops what the dead producer had claimed; how many.
  std::size_t bury(std::uint32_t producer) noexcept;

 private:
  enum State : std::uint64_t { kFree, kClaimed, kFull, kDropped, kSealed };
  static constexpr unsigned kStateBits = 3;
  static constexpr unsigned kProducerBits = 16;
  static constexpr unsigned kLapShift = kStateBits + kProducerBits;
  static constexpr std::uint64_t kLapOne = std::uint64_t{1} << kLapShift;
  static constexpr std::uint64_t kStateMask = (1 << kStateBits) - 1;

  // Of the lap of a position; laps run over where their bits end.
  [[nodiscard]] std::uint64_t word_of(std::uint64_t position, State state) const noexcept {
    return (position >> shift_ << kLapShift) | state;
  }
  static std::uint64_t state_of(std::uint64_t word) noexcept { return word & kStateMask; }
  static std::uint64_t lap_of(std::uint64_t word) noexcept { return word & ~(kLapOne - 1); }
  [[nodiscard]] Word& word(std::uint64_t position) const noexcept {
    return *reinterpret_cast<Word*>(place(position));
  }
  void pass(std::uint64_t position) noexcept;

  SharedTicketWords* words_;
  std::byte* places_;
  std::size_t stride_;
  std::size_t mask_;
  unsigned shift_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
