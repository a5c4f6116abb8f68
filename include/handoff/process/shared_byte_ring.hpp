// SPDX-License-Identifier: MIT
//
// A bounded queue in shared memory of records of any length, from one process to one other.
//
//   // The process that makes the memory:
//   auto memory = handoff::SharedMemory::create({.bytes = SharedByteRing::bytes_for(1 << 20)});
//   auto ring = SharedByteRing::create(memory.bytes(), 1 << 20);
//   memory.publish();
//   SharedByteRing::Producer out(ring);
//   Status s = out.push(std::as_bytes(std::span(text)));   // waits while the ring is full
//
//   // The other one, which was given the memory:
//   SharedByteRing::Consumer in(SharedByteRing::attach(memory.bytes()));
//   std::span<const std::byte> record;
//   while (in.peek(record) == Status::ok) {                // until closed and drained
//     parse(record);
//     in.release();
//   }
//
//   std::span<std::byte> place;                            // in place, without a copy
//   if (out.claim(4096, place) == Status::ok) (void)out.publish(fill(place));
//
// For: messages, log lines, encoded frames. Not for: items of one size (SharedRing).
// A record lies in one piece, at a multiple of 8 bytes, behind a word with its length; so a ring of
//   n bytes has room for records of at most n / 2 - 8 (most()).
// Tier, concurrency, order, blocking, closing, deaths, trust: as SharedRing. A length that cannot
//   be makes the Consumer `damaged`. Bytes that are peeked are the other process's still: if it is
//   not trusted, copy them before you check them.
// Allocates: never; a wait as Until does.
// Full: no room for this record, though a shorter one may have some.
// Exceptions: a record longer than most() std::length_error; create() that and
//   std::invalid_argument; attach() and the ends std::system_error. If a visitor throws, its record
//   is consumed.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_ends.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class SharedByteRing {
 public:
  class Producer;
  class Consumer;

  // What the memory of a ring needs, up to where another may begin. 0 is misuse. Throws
  // std::length_error for more bytes than there can be.
  static std::size_t bytes_for(std::size_t capacity);
  // Makes a ring of at least `capacity` bytes, lengths included, rounded up to a power of two and
  // to 64. The memory begins at a multiple of 128 bytes, and outlives all that use it.
  static SharedByteRing create(std::span<std::byte> bytes, std::size_t capacity);
  // The ring that another process, or this one, has made there.
  static SharedByteRing attach(std::span<std::byte> bytes);

  // Bytes that the records and their headers share.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  // The bytes of the longest record.
  [[nodiscard]] std::size_t most() const noexcept;

  // No push that begins after this succeeds. Wakes both ends.
  void close() noexcept { positions_->close(); }
  [[nodiscard]] bool closed() const noexcept { return positions_->items.closed(); }
  // As in SharedRing.
  void producer_died() noexcept {
    positions_->close();
    positions_->disturb();
  }
  void consumer_died() noexcept { producer_died(); }
  void recovered() noexcept { positions_->disturb(); }

  // About how many bytes there were during the call, lengths included.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(positions_->size(capacity_));
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
  struct Fixed;
  SharedByteRing(std::span<std::byte> bytes, const detail::SharedRingShape& shape) noexcept;

  [[nodiscard]] std::size_t offset(std::uint64_t position) const noexcept {
    return static_cast<std::size_t>(position) & (capacity_ - 1);
  }

  detail::SharedPositions* positions_;
  std::byte* bytes_;
  std::size_t capacity_;
};

// The end that pushes.
class SharedByteRing::Producer {
 public:
  // Throws std::system_error for a ring whose positions cannot be.
  explicit Producer(SharedByteRing ring);

  // ok, full or closed.
  Status try_push(std::span<const std::byte> record);
  // Waits while there is no room: ok, closed, timed_out or stopped.
  Status push(std::span<const std::byte> record, const Until& until = {});

  // Room for a record of up to `bytes`, to be written in any way and then published. A claim in the
  // place of one that was not published yet is the only one. ok, full or closed.
  Status try_claim(std::size_t bytes, std::span<std::byte>& place);
  Status claim(std::size_t bytes, std::span<std::byte>& place, const Until& until = {});
  // The first `bytes` of what was claimed are a record now; more than that is misuse. ok; closed:
  // it will not be delivered, or nothing is claimed.
  Status publish(std::size_t bytes);

  // Whether this end found what cannot be, and has stopped working.
  [[nodiscard]] bool damaged() const noexcept { return end_.damaged(); }

 private:
  [[nodiscard]] std::size_t padding_for(std::size_t bytes) const;
  Status claimed(Status status, std::size_t bytes, std::size_t padding,
                 std::span<std::byte>& place) noexcept;
  Status push_into(std::span<std::byte> place, std::span<const std::byte> record);

  SharedByteRing ring_;
  detail::SharedProducerEnd end_;
  std::size_t claimed_ = 0;
  std::size_t padding_ = 0;  // before the record, up to the end of the memory
  bool is_claimed_ = false;
};

// The end that pops.
class SharedByteRing::Consumer {
 public:
  // Throws std::system_error for a ring whose positions cannot be.
  explicit Consumer(SharedByteRing ring);

  // The first record, where it lies; again and again the same one until release(). ok, empty or
  // closed (and drained).
  Status try_peek(std::span<const std::byte>& record) noexcept;
  // Waits while there is none: ok, closed (and drained), timed_out or stopped.
  Status peek(std::span<const std::byte>& record, const Until& until = {});
  // The record that was peeked is consumed; nothing if there is none.
  void release() noexcept;

  // Calls visitor(std::span<const std::byte>) on each record in its place; returns how many. At
  // most `most`, and no more than were there at the call. The visitor must not take from this ring.
  template <class Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    struct Release {  // also when the visitor throws
      ~Release() { consumer.release(); }
      Consumer& consumer;
    };
    const std::uint64_t end = end_.position() + end_.items(ring_.capacity_);
    std::size_t count = 0;
    std::span<const std::byte> record;
    for (; count < most && end_.position() != end && try_peek(record) == Status::ok; ++count) {
      const Release release{*this};
      detail::call_and_drop(visitor, std::as_const(record));
    }
    return count;
  }

  // Whether this end found what cannot be, and has stopped working.
  [[nodiscard]] bool damaged() const noexcept { return end_.damaged(); }

 private:
  friend struct detail::RingWatching;

  [[nodiscard]] detail::RingWatch watch() const noexcept { return end_.watch(); }
  Status look(std::span<const std::byte>& record) noexcept;

  SharedByteRing ring_;
  detail::SharedConsumerEnd end_;
  std::uint64_t peeked_ = 0;  // bytes, with the length; 0: nothing is peeked
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
