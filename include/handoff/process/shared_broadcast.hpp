// SPDX-License-Identifier: MIT
//
// A ring of messages in shared memory from one process; every consumer sees each message. A
// consumer that is a whole ring behind loses the oldest ones, and knows how many.
//
//   auto memory = handoff::SharedMemory::create({.bytes = SharedBroadcast<Tick>::bytes_for(1024)});
//   auto ticks = SharedBroadcast<Tick>::create(memory.bytes(), 1024);
//   memory.publish();
//   SharedBroadcast<Tick>::Producer out(ticks);
//   Status s = out.push(tick);                     // never waits
//
//   // Any other process that was given the memory:
//   SharedBroadcast<Tick>::Consumer in(SharedBroadcast<Tick>::attach(memory.bytes()));
//   while (in.pop(tick) == Status::ok) { ... }     // until closed and drained
//   if (in.lost() != 0) resync();
//
// For: a stream that several processes follow, each for itself; any of them may be slow, stopped or
// killed. Not for: threads of one process (Broadcast, which can wait for the slowest); messages
// that none may miss (a SharedRing for each consumer).
//
// Contract: transfer tier. Items and trust: as in shared_ring.hpp; items are copied out before they
// are seen, so some kilobytes at most.
// - Concurrency: one Producer at a time; any number of Consumers; one thread at a time uses each,
//   in any process. SharedBroadcast is a value; its looks are thread-safe.
// - Order: that of the pushes. What was done before a push happens before it is popped.
// - Blocks: pop(), while there is nothing new. It spins for some microseconds where that can help,
//   then sleeps, as long as its Until says. push() is wait-free.
// - A consumer that was lapped goes on with the oldest message that is left.
// - Joining: a new Consumer sees each message that is pushed after it was made, or also those that
//   are still there (From::oldest). The producer knows nothing of consumers, and the memory holds
//   nothing of them, so a consumer may die unnoticed.
// - Closed: only the producer may close(); once it is dead, producer_died() closes.
// - Death of the producer: nobody ever sees a message that it had not finished. Consumers wait
//   until producer_died() is called, by code that knows of the death from the kernel; or until
//   another Producer goes on and recovered() is called.
// - Trust: try_pop() and consume() write nothing, so a consumer may have the memory for reading
//   only. pop() writes one word.
// - Exceptions: create() throws std::length_error, std::invalid_argument; attach() throws
//   std::system_error. If a visitor throws, its message is consumed.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/bell_patience.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/process/detail/shared_sequence.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class SharedBroadcast {
  static_assert(std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T>,
                "what lies in shared memory is copied as bytes: no references, and no types with "
                "constructors of copies of their own");

 public:
  using value_type = T;
  class Producer;
  class Consumer;
  // Where a consumer begins.
  enum class From : std::uint8_t {
    now,  // with the next one that is pushed
    oldest,  // with the oldest that is still there
  };

  // What the memory of a ring needs, up to where another may begin. 0 is misuse. Throws
  // std::length_error for more places than there can be.
  static std::size_t bytes_for(std::size_t capacity) {
    return detail::bytes_of(detail::with_capacity(kShape, capacity));
  }

  // Makes a ring of at least `capacity` places, rounded up to a power of two. The memory begins at
  // a multiple of 128 bytes, and outlives all that use it.
  static SharedBroadcast create(std::span<std::byte> bytes, std::size_t capacity) {
    const detail::SharedRingShape shape = detail::with_capacity(kShape, capacity);
    detail::SharedRingHead::begin(bytes, shape);
    ::new (static_cast<void*>(bytes.data() + detail::kSharedRingStart)) Fixed(shape);
    for (std::size_t i = 0; i < shape.capacity * (kWords + 1); ++i) {
      ::new (static_cast<void*>(bytes.data() + shape.offset() + i * sizeof(Word))) Word(0);
    }
    detail::SharedRingHead::publish(bytes);
    return SharedBroadcast(bytes, shape);
  }
  // The ring that another process, or this one, has made there.
  static SharedBroadcast attach(std::span<std::byte> bytes) {
    return SharedBroadcast(bytes, detail::SharedRingHead::attached(bytes, kShape));
  }

  // Places: a consumer that is further behind loses the oldest items.
  [[nodiscard]] std::size_t capacity() const noexcept { return sequence_.capacity(); }
  // Whether close() was called, by any process.
  [[nodiscard]] bool closed() const noexcept { return sequence_.shared().items.closed(); }

  // To be said when the kernel has confirmed the death of the producer, and not before. Closes.
  void producer_died() noexcept {
    sequence_.shared().items.close();
    recovered();
  }
  // Instead, once its successor is there: wakes what its predecessor left asleep.
  void recovered() noexcept { sequence_.shared().items.disturb(); }

 private:
  using Word = detail::SharedSequence::Word;
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  // As words: copying bytes that another process writes would be a race.
  struct Image {
    std::uint64_t words[kWords];
  };
  struct Fixed {
    explicit Fixed(const detail::SharedRingShape& shape) noexcept : head(shape) {}
    detail::SharedRingHead head;
    detail::SharedSequenceWords words;
  };
  static constexpr detail::SharedRingShape kShape{.kind = detail::SharedRingKind::broadcast,
                                                  .fixed_bytes = sizeof(Fixed),
                                                  .place_bytes = sizeof(Word) * (kWords + 1),
                                                  .item_bytes = sizeof(T),
                                                  .item_alignment = alignof(Word)};

  SharedBroadcast(std::span<std::byte> bytes, const detail::SharedRingShape& shape) noexcept
      : sequence_(
            std::launder(reinterpret_cast<Fixed*>(bytes.data() + detail::kSharedRingStart))->words,
            reinterpret_cast<Word*>(bytes.data() + shape.offset()), kWords,
            static_cast<std::size_t>(shape.capacity)) {}

  detail::SharedSequence sequence_;
};

// The process that publishes. A successor of a dead one goes on where that one came to.
template <class T>
class SharedBroadcast<T>::Producer {
 public:
  explicit Producer(SharedBroadcast broadcast) noexcept
      : sequence_(broadcast.sequence_), position_(sequence_.resume()) {}
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // ok or closed.
  Status push(const T& message) noexcept {
    if (sequence_.shared().items.closed()) return Status::closed;
    Image image{};
    std::memcpy(image.words, &message, sizeof message);
    sequence_.write(position_++, image.words);
    return Status::ok;
  }
  // The last word. Wakes all consumers.
  void close() noexcept { sequence_.shared().items.close(); }

 private:
  detail::SharedSequence sequence_;
  std::uint64_t position_;
};

// One that follows.
template <class T>
class SharedBroadcast<T>::Consumer {
 public:
  explicit Consumer(SharedBroadcast broadcast, From from = From::now) noexcept
      : sequence_(broadcast.sequence_), next_(sequence_.tail()) {
    if (from == From::oldest) next_ -= detail::min<std::uint64_t>(next_, sequence_.capacity());
  }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // ok, empty or closed (and drained). Writes nothing into the memory.
  Status try_pop(T& out) noexcept {
    Image image;
    const Status status = find(image);
    if (status == Status::ok) std::memcpy(&out, image.words, sizeof out);
    return status;
  }
  // Waits while there is nothing new: ok, closed (and drained), timed_out or stopped.
  Status pop(T& out, const Until& until = {}) {
    Status status = try_pop(out);
    if (status != Status::empty) return status;
    const Status waited =
        sequence_.shared().items.await([&] { return (status = try_pop(out)) != Status::empty; },
                                       until, detail::BellSleepers::many, patience_);
    return waited == Status::ok ? status : waited;
  }

  // Calls visitor(const T&) or visitor(const T&, sequence) on a copy of each message that is there;
  // returns how many. At most `most`, and no more than capacity(), so that it ends while the
  // producer goes on. `sequence` counts all messages from 0. Writes nothing into the memory.
  template <class Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::size_t limit = detail::min(most, sequence_.capacity());
    std::size_t count = 0;
    for (Image image; count < limit && find(image) == Status::ok; ++count) {
      Copy copy;
      std::memcpy(&copy.message, image.words, sizeof copy.message);
      const T& message = copy.message;
      if constexpr (std::is_invocable_v<Visitor&, const T&, std::uint64_t>) {
        detail::call_and_drop(visitor, message, next_ - 1);
      } else {
        detail::call_and_drop(visitor, message);
      }
    }
    return count;
  }

  // How many messages were overwritten before this consumer had copied them.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  // How many messages it has not seen yet, lost ones included.
  [[nodiscard]] std::uint64_t behind() const noexcept {
    const auto behind = static_cast<std::int64_t>(sequence_.tail() - next_);
    return behind < 0 ? 0 : static_cast<std::uint64_t>(behind);
  }

 private:
  friend struct detail::RingWatching;

  [[nodiscard]] detail::RingWatch watch() const noexcept { return sequence_.watch(next_); }

  // Room for a message without a constructor being called.
  union Copy {
    Copy() noexcept {}
    T message;
  };

  Status find(Image& image) noexcept {
    using Found = detail::SharedSequence::Found;
    bool is_closed = false;
    // One that is lapped again and again all the same finds something in the end, or lets its
    // caller have a word.
    for (std::size_t tries = 0; tries < 2 * sequence_.capacity() + 2; ++tries) {
      const Found found = sequence_.read(next_, image.words);
      if (found == Found::whole) {
        ++next_;
        return Status::ok;
      }
      if (found == Found::lapped) {
        const std::uint64_t next = sequence_.next_after(next_);
        lost_ += next - next_;
        next_ = next;
        continue;
      }
      if (is_closed) return Status::closed;
      // Pushes came before the close, so a second look is the last that is needed.
      is_closed = sequence_.shared().items.closed();
      if (!is_closed) return Status::empty;
    }
    return Status::empty;
  }

  detail::SharedSequence sequence_;
  std::uint64_t next_;
  std::uint64_t lost_ = 0;
  detail::BellPatience patience_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
