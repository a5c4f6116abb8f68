// SPDX-License-Identifier: MIT
//
// A sequence of messages in shared memory that one producer writes and any number of consumers
// read, which nobody waits for and which the producer does not know of. SharedBroadcast says what
// the messages are. Not for users.
//
// Each place has a word, which grows with each lap: odd while the message of a position is written,
// the even number behind once it is there. A consumer copies a message between two looks at that
// word: if it was the same, the copy is whole; else the producer has lapped the consumer.
//   SQ-1  The word of a place never decreases. It is even and of position p only while message p
//         lies there whole.
//   SQ-2  Consumers write nothing but the mark of their bell, and that only to sleep.
//   SQ-3  Nothing read here is used as more than a position that is cut to the ring.
// Concurrency: write() by one producer at a time, the rest by any thread.
// Blocks, allocates: never.
// Source: the two looks are those of a sequence lock; H. Boehm, "Can Seqlocks Get Along With
//   Programming Language Memory Models?" (2012). Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct SharedSequenceWords {
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> tail{0};  // the next message
  alignas(sync::destructive_span) SharedBell items;  // consumers sleep here; the close bit
};

// A view, a value. A place has its word, and `words` more for the message.
class SharedSequence {
 public:
  using Word = sync::atomic<std::uint64_t>;

  SharedSequence(SharedSequenceWords& shared, Word* places, std::size_t words,
                 std::size_t capacity) noexcept
      : shared_(&shared), places_(places), words_(words), mask_(capacity - 1) {}

  [[nodiscard]] SharedSequenceWords& shared() const noexcept { return *shared_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  // Where a producer begins: behind all that its predecessor has made seen.
  [[nodiscard]] std::uint64_t resume() noexcept;
  void write(std::uint64_t position, const std::uint64_t* message) noexcept;

  [[nodiscard]] std::uint64_t tail() const noexcept {
    // order: acquire pairs with the release in write().
    return shared_->tail.load(sync::order::acquire);
  }
  enum class Found : std::uint8_t { whole, not_yet, lapped };
  Found read(std::uint64_t position, std::uint64_t* message) const noexcept;
  // What changes once read() says something else than `not_yet`, and perhaps before.
  [[nodiscard]] RingWatch watch(std::uint64_t position) const noexcept {
    const Word* const word = place(position);
    // order: relaxed, read() looks again.
    const std::uint64_t seen = word->load(sync::order::relaxed);
    const bool is_before = static_cast<std::int64_t>(seen - whole(position)) < 0;
    return {.doorbell = &shared_->items, .word = word, .seen = is_before ? seen : ~seen};
  }
  // Behind `position`, which was lapped: what may still be there.
  [[nodiscard]] std::uint64_t next_after(std::uint64_t position) const noexcept;

 private:
  [[nodiscard]] Word* place(std::uint64_t position) const noexcept {
    return places_ + (static_cast<std::size_t>(position) & mask_) * (words_ + 1);
  }
  // The word of a place while message `position` is there.
  static constexpr std::uint64_t whole(std::uint64_t position) noexcept { return 2 * position + 2; }

  SharedSequenceWords* shared_;
  Word* places_;
  std::size_t words_;
  std::size_t mask_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
