// SPDX-License-Identifier: MIT
//
// The consumers of a broadcast: where each of them is, how they join and leave, and what that means
// for producers that need room. Not for users.
//
// Positions are tickets, four a message, so that two marks fit beside one. A record is never given
// back before the broadcast ends: a producer that looks for the slowest walks over a list that only
// grows, without a lock, and passes over those that left. A later consumer takes such a record
// again. Proof: docs/design/broadcast.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using BroadcastTicket = std::uint64_t;
inline constexpr BroadcastTicket kBroadcastStep = 4;  // from one message to the next

// How far `a` is ahead of `b`, in messages; below 0: behind it.
constexpr std::int64_t messages_between(BroadcastTicket b, BroadcastTicket a) noexcept {
  return static_cast<std::int64_t>(a - b) >> 2;
}

struct BroadcastReader {
  static constexpr BroadcastTicket kBusy = 1;  // copies the message at its position
  static constexpr BroadcastTicket kLeft = 2;  // nobody's
  static constexpr BroadcastTicket kMarks = kBusy | kLeft;
  static constexpr std::size_t kBeforeMost = 8;

  // The consumer's line.
  alignas(sync::destructive_span) sync::atomic<BroadcastTicket> position{kLeft};
  BroadcastTicket next = 0;  // what it has come to; the position follows in strides
  BroadcastTicket seen = 0;  // up to here there were messages for it
  std::uint64_t lost = 0;
  std::chrono::nanoseconds spin_for{};
  const void* visited_by = nullptr;  // the consumer, while one of its visitors is called
  std::uint8_t before_count = 0;
  BroadcastReader* before[kBeforeMost] = {};  // those it comes after

  // Others' line.
  alignas(sync::destructive_span) sync::atomic<std::uint32_t> followers{0};  // come after it
  BroadcastReader* following = nullptr;  // in the list; set before it is listed
  sync::cell<std::uint32_t> uses{0};  // its consumer, and its followers; under the mutex
};

class BroadcastReaders {
 public:
  BroadcastReaders() noexcept = default;
  ~BroadcastReaders();
  BroadcastReaders(const BroadcastReaders&) = delete;
  BroadcastReaders& operator=(const BroadcastReaders&) = delete;

  // A new consumer at the tail, behind those it comes after: none of the messages that are claimed
  // later escapes it. Throws std::bad_alloc.
  BroadcastReader& join(BroadcastReader* const* before, std::size_t before_count,
                        const sync::atomic<BroadcastTicket>& tail);
  // Its places are free, and its followers go on without it.
  void leave(BroadcastReader& reader) noexcept;

  // The position of the slowest, or `tail` if that is less. The caller read or wrote `tail` before.
  BroadcastTicket slowest(BroadcastTicket tail) const noexcept;
  // The same, after those behind `keep` have been moved up to it, except for the busy ones.
  BroadcastTicket slowest_moved_up(BroadcastTicket tail, BroadcastTicket keep) noexcept;

  // How far `reader` may go for those it comes after. False if it comes after nobody that is left.
  static bool bound(const BroadcastReader& reader, BroadcastTicket& limit) noexcept;

 private:
  template <class>
  friend struct Books;

  BroadcastReader& record();
  void drop(BroadcastReader& reader) noexcept;

  sync::Mutex mutex_;  // one joins or leaves at a time
  sync::atomic<BroadcastReader*> first_{nullptr};
};

// What consumers of all broadcasts have in common: the record that an `after` names.
class BroadcastMember {
 protected:
  BroadcastMember() noexcept = default;
  BroadcastMember(BroadcastReaders* readers, BroadcastReader* reader) noexcept
      : readers_(readers), reader_(reader) {}
  ~BroadcastMember() = default;
  BroadcastMember(const BroadcastMember&) noexcept = default;
  BroadcastMember& operator=(const BroadcastMember&) noexcept = default;

  BroadcastReaders* readers_ = nullptr;
  BroadcastReader* reader_ = nullptr;

 private:
  friend class BroadcastAfter;
};

// The consumers that a consumer comes after: `{a, b}`.
class BroadcastAfter {
 public:
  class Ref {
   public:
    Ref(const BroadcastMember& member) noexcept  // NOLINT(google-explicit-constructor)
        : member_(&member) {}

   private:
    friend class BroadcastAfter;
    const BroadcastMember* member_;
  };

  BroadcastAfter() noexcept = default;
  // Throws std::length_error for more than kBeforeMost.
  BroadcastAfter(std::initializer_list<Ref> members);

  // The records; misuse if one is of another broadcast, or has left.
  BroadcastReader* const* of(const BroadcastReaders& readers) const;
  std::size_t count() const noexcept { return count_; }

 private:
  std::size_t count_ = 0;
  const BroadcastReaders* owner_[BroadcastReader::kBeforeMost] = {};
  BroadcastReader* reader_[BroadcastReader::kBeforeMost] = {};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
