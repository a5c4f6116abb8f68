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
// claim of a dead one is found by looking, and nothing else need be known of it. One exchange may
// claim several places, which follow each other: the word of the first says how many, and those of
// the others stay as they are until all of them are full or dropped, the first one last. `tail` is
// a hint where to look for a free place, which anybody moves on behind places that are not free any
// more.
//   SK-1  A claimed place is changed by its producer alone; after its death, which the kernel has
//         confirmed, by the one that says producer_died().
//   SK-2  Places are claimed in order: a place is claimed only once `tail` has come to it or to the
//         first of its claim, and `tail` passes a place only after it was claimed. So a sealed
//         place is the end.
//   SK-3  Words, positions and numbers that another process may have written are read once, and
//         are never more than compared, or used as a position or a number of places that is cut to
//         the ring.
//   SK-4  Nobody looks at the word of a claimed place but the first, for this lap: `tail` passes
//         all of a claim at once while the first is claimed, and the consumer waits before it.
// Concurrency: claim() to drop() by any producer, each number by one thread at a time; find() and
//   release() by the consumer; bury() by one thread at a time.
// Blocks: never. Allocates: never.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/status.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct SharedTicketWords {
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> tail{0};  // the next claim, or before
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> head{0};  // the consumer's
  alignas(sync::destructive_span) SharedBell items;  // the consumer sleeps here; the close bit
  SharedBell room;  // producers sleep here
};

// Places that follow each other. None: `count` is 0.
struct SharedClaim {
  std::uint64_t position = 0;
  std::uint64_t count = 0;
};

// A view, a value. Places are `stride` bytes apart, and each begins with its word.
class SharedTickets {
 public:
  using Word = sync::atomic<std::uint64_t>;
  static constexpr std::uint64_t kMostInClaim = 256;

  SharedTickets(SharedTicketWords& words, std::byte* places, std::size_t stride,
                std::size_t capacity) noexcept;

  [[nodiscard]] SharedTicketWords& words() const noexcept { return *words_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
  // Where the place of a position begins.
  [[nodiscard]] std::byte* place(std::uint64_t position) const noexcept {
    return places_ + (static_cast<std::size_t>(position) & mask_) * stride_;
  }

  void close() noexcept;
  [[nodiscard]] std::size_t size() const noexcept;

  // --- A producer. ---

  // Places that are this producer's now, up to `most`, which is not 0: ok, full or closed.
  // `damaged` if what lies there cannot be: then closed.
  Status claim(std::uint32_t producer, std::uint64_t most, SharedClaim& claim,
               bool& damaged) noexcept;
  // Exactly one of these for each claim.
  void publish(const SharedClaim& claim) noexcept { finish(claim, kFull); }
  void drop(const SharedClaim& claim) noexcept { finish(claim, kDropped); }

  // --- The consumer. ---

  // Where the consumer before has come to.
  [[nodiscard]] std::uint64_t first() const noexcept;
  // Passes what was dropped: ok, empty or closed.
  Status find(std::uint64_t& position, bool& damaged) noexcept;
  // What changes once find() says something else than `empty` to this position.
  [[nodiscard]] RingWatch watch(std::uint64_t position) const noexcept;
  // The place may be claimed for the next lap. To be told, once for several.
  void give_back(std::uint64_t position) noexcept;
  // All before this position were given back: wakes what waits for room.
  void tell_given_back(std::uint64_t position) noexcept;

  // --- The one that knows of deaths. ---

  // Drops what the dead producer had claimed; how many places.
  std::size_t bury(std::uint32_t producer) noexcept;

 private:
  template <class>
  friend struct Books;

  enum State : std::uint64_t { kFree, kClaimed, kFull, kDropped, kSealed };
  static constexpr unsigned kStateBits = 3;
  static constexpr unsigned kProducerBits = 16;
  static constexpr unsigned kCountBits = 8;  // of the places behind the first
  static constexpr unsigned kCountShift = kStateBits + kProducerBits;
  static constexpr unsigned kLapShift = kCountShift + kCountBits;
  static constexpr std::uint64_t kLapOne = std::uint64_t{1} << kLapShift;
  static constexpr std::uint64_t kStateMask = (1 << kStateBits) - 1;
  static constexpr std::uint64_t kClaimMask = (std::uint64_t{1} << kCountShift) - 1;

  // The word has the lap of the position; laps run over where their bits end.
  [[nodiscard]] std::uint64_t word_of(std::uint64_t position, State state) const noexcept {
    return (position >> shift_ << kLapShift) | state;
  }
  static std::uint64_t state_of(std::uint64_t word) noexcept { return word & kStateMask; }
  static std::uint64_t lap_of(std::uint64_t word) noexcept { return word & ~(kLapOne - 1); }
  // How many places a claim has.
  static std::uint64_t count_of(std::uint64_t word) noexcept {
    return ((word & (kLapOne - 1)) >> kCountShift) + 1;
  }
  [[nodiscard]] Word& word(std::uint64_t position) const noexcept {
    return *reinterpret_cast<Word*>(place(position));
  }
  [[nodiscard]] std::uint64_t look(std::uint64_t position) const noexcept {
    // order: acquire pairs with the release in hand_on(), and with that in bury().
    return word(position).load(sync::order::acquire);
  }
  void hand_on(std::uint64_t position, std::uint64_t next) noexcept {
    // order: release pairs with the acquire in look(): the item is there, what was written there is
    // over, or what lay there has been read; and the words behind a claim are what it left them.
    word(position).store(next, sync::order::release);
  }
  void set_behind(const SharedClaim& claim, State state) noexcept;
  [[nodiscard]] std::uint64_t free_from(std::uint64_t position, std::uint64_t most) const noexcept;
  void pass(std::uint64_t position, std::uint64_t count) noexcept;
  void finish(const SharedClaim& claim, State state) noexcept;

  SharedTicketWords* words_;
  std::byte* places_;
  std::size_t stride_;
  std::size_t mask_;
  unsigned shift_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
