// SPDX-License-Identifier: MIT
//
// A bounded queue in shared memory, from one process to one other.
//
//   auto memory = handoff::SharedMemory::create({.bytes = SharedRing<Frame>::bytes_for(64)});
//   auto ring = SharedRing<Frame>::create(memory.bytes(), 64);
//   memory.publish();
//   SharedRing<Frame>::Producer out(ring);
//   Status s = out.push(frame);                  // waits while the ring is full
//   // The other process, which was given the memory:
//   SharedRing<Frame>::Consumer in(SharedRing<Frame>::attach(memory.bytes()));
//   while (in.pop(frame) == Status::ok) { ... }  // until closed and drained
//
// For: a stream between two processes, cheaper than a pipe and without a system call while both are
// awake. Not for: threads of one process (SpscRing); many producers (SharedMpscRing); records of
// different lengths (SharedByteRing); what must survive a restart of the machine (AppendLog). Items
// are trivially copyable and hold no pointers: each process has the memory elsewhere. If you do not
// trust the other process, take a type for which each pattern of bits is a value.
//
// Contract: transfer tier.
// - Concurrency: one Producer and one Consumer at a time; one thread at a time uses each, in any
//   process. SharedRing is a value; close(), *_died() and looks are thread-safe.
// - Order: first in, first out. What the producer did before a push happens before the pop.
// - Blocks: push, pop, claim and peek without try_. They spin for some microseconds where that can
//   help, then sleep, as long as their Until says. try_* are wait-free.
// - Closed: any process may close(), again and again. A push that said `ok` is delivered, if
//   anybody goes on popping. A push that was under way during close() may still say `closed`: then
//   it is not.
// - Death: a process that dies changes nothing for the other one until producer_died() or
//   consumer_died() is called, by code that knows of the death from the kernel (a pidfd). That
//   closes the ring, and nobody waits for the dead process any more. To go on instead, make another
//   Producer or Consumer and call recovered(). An item that was claimed and not published is not
//   there; one that was peeked and not released is there again for the next Consumer.
// - Trust: an end uses no position that it has not checked. If a position cannot be, the end is
//   `damaged` and says `closed` from then on. A hostile process can hold up the other one, and lie
//   about items: read an item once, check it, then use it. pop() copies before it gives the place
//   back.
// - Exceptions: create() throws std::length_error, std::invalid_argument; attach(), Producer and
//   Consumer throw std::system_error. If a visitor throws, its item is consumed.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/process/detail/shared_ends.hpp>
#include <handoff/process/detail/shared_places.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/queue/internal/ring_item.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class SharedRing {
  static_assert(std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T>,
                "what lies in shared memory is copied as bytes: no references, and no types with "
                "constructors of copies of their own");

 public:
  using value_type = T;
  class Producer;
  class Consumer;

  // What the memory of a ring needs, up to where another may begin. 0 is misuse. Throws
  // std::length_error for more places than there can be.
  static std::size_t bytes_for(std::size_t capacity) {
    return detail::bytes_of(detail::with_capacity(kShape, capacity));
  }

  // Makes a ring of at least `capacity` places, rounded up to a power of two. The memory begins at
  // a multiple of 128 bytes and of alignof(T), and outlives all that use it.
  static SharedRing create(std::span<std::byte> bytes, std::size_t capacity) {
    return create(bytes, capacity, detail::RingStart{});
  }
  // The ring that another process, or this one, has made there.
  static SharedRing attach(std::span<std::byte> bytes) {
    return SharedRing(bytes, detail::SharedRingHead::attached(bytes, kShape));
  }

  // Places: items that fit in.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // No push that begins after this succeeds. Wakes both ends.
  void close() noexcept { positions_->close(); }
  [[nodiscard]] bool closed() const noexcept { return positions_->items.closed(); }

  // To be said when the kernel has confirmed the death of the process that had this end, and not
  // before. Closes the ring.
  void producer_died() noexcept {
    positions_->close();
    positions_->disturb();
  }
  void consumer_died() noexcept { producer_died(); }
  // Instead, once the successor of a dead end is there: wakes what its predecessor left asleep.
  void recovered() noexcept { positions_->disturb(); }

  // About how many items there were during the call.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(positions_->size(capacity_));
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 protected:
  static SharedRing create(std::span<std::byte> bytes, std::size_t capacity,
                           detail::RingStart start) {
    const detail::SharedRingShape shape = detail::with_capacity(kShape, capacity);
    detail::SharedRingHead::begin(bytes, shape);
    ::new (static_cast<void*>(bytes.data() + detail::kSharedRingStart))
        Fixed(shape, start.position);
    detail::SharedRingHead::publish(bytes);
    return SharedRing(bytes, shape);
  }

 private:
  template <class>
  friend struct detail::Books;
  template <class, class>
  friend class detail::PlaceProducer;
  template <class, class>
  friend class detail::PlaceConsumer;

  struct Fixed {
    Fixed(const detail::SharedRingShape& shape, std::uint64_t start) noexcept
        : head(shape), positions(start) {}
    detail::SharedRingHead head;
    detail::SharedPositions positions;
  };
  static constexpr detail::SharedRingShape kShape{.kind = detail::SharedRingKind::one_producer,
                                                  .fixed_bytes = sizeof(Fixed),
                                                  .place_bytes = sizeof(T),
                                                  .item_bytes = sizeof(T),
                                                  .item_alignment = alignof(T)};

  SharedRing(std::span<std::byte> bytes, const detail::SharedRingShape& shape) noexcept
      : positions_(&std::launder(reinterpret_cast<Fixed*>(bytes.data() + detail::kSharedRingStart))
                        ->positions),
        places_(reinterpret_cast<T*>(bytes.data() + shape.offset())),
        capacity_(static_cast<std::size_t>(shape.capacity)) {}

  T* item(std::uint64_t position) const noexcept {
    return places_ + (static_cast<std::size_t>(position) & (capacity_ - 1));
  }

  detail::SharedPositions* positions_;
  T* places_;
  std::size_t capacity_;
};

// The end that pushes. Makes a successor of a dead one, too: it goes on where that one came to.
template <class T>
class SharedRing<T>::Producer
    : public detail::PlaceProducer<SharedRing, detail::SharedProducerEnd> {
 public:
  // Throws std::system_error for a ring whose positions cannot be.
  explicit Producer(SharedRing ring)
      : Producer::PlaceProducer(ring, *ring.positions_, ring.capacity_) {
    if (this->damaged()) detail::refuse_ring("its positions cannot be");
  }

  // The first items, as many as have room; how many. 0 once closed.
  std::size_t try_push_batch(std::span<const T> items) noexcept {
    auto& end = this->end_;
    const auto count = static_cast<std::size_t>(end.room(items.size()));
    if (count == 0) return 0;
    for (std::size_t i = 0; i < count; ++i) this->make(end.position() + i, items[i]);
    return end.publish(count) == Status::ok ? count : 0;
  }
};

// The end that pops. A successor goes on where the dead one came to.
template <class T>
class SharedRing<T>::Consumer
    : public detail::PlaceConsumer<SharedRing, detail::SharedConsumerEnd> {
 public:
  // Throws std::system_error for a ring whose positions cannot be.
  explicit Consumer(SharedRing ring)
      : Consumer::PlaceConsumer(ring, *ring.positions_, ring.capacity_) {
    if (this->damaged()) detail::refuse_ring("its positions cannot be");
  }

  // As many as there are and have room in `out`; how many.
  std::size_t try_pop_batch(std::span<T> out) noexcept {
    const std::size_t count = ready(out.size());
    if (count == 0) return 0;
    for (std::size_t i = 0; i < count; ++i) out[i] = *this->ring_.item(this->end_.position() + i);
    this->end_.give_back(count);
    return count;
  }

  // Calls visitor(const T&) on each item in its place; returns how many. At most `most`, and only
  // those that were there at the call. The visitor must not take from this ring.
  template <class Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::size_t count = ready(most);
    Visited visited(this->end_, this->ring_.capacity());
    for (std::size_t i = 0; i < count; ++i) {
      const T& item = *this->ring_.item(visited.next());
      detail::call_and_drop(visitor, item);
    }
    return count;
  }

 private:
  // What a visitor has seen goes back in strides, so that the producer goes on meanwhile, and at
  // the end, also by an exception.
  class Visited {
   public:
    Visited(detail::SharedConsumerEnd& end, std::size_t capacity) noexcept
        : end_(end), stride_(detail::max<std::size_t>(capacity / 8, 1)) {}
    ~Visited() { give_back(); }
    Visited(const Visited&) = delete;
    Visited& operator=(const Visited&) = delete;
    std::uint64_t next() noexcept {
      if (count_ == stride_) give_back();
      return end_.position() + count_++;
    }

   private:
    void give_back() noexcept {
      if (count_ != 0) end_.give_back(count_);
      count_ = 0;
    }
    detail::SharedConsumerEnd& end_;
    const std::size_t stride_;
    std::size_t count_ = 0;
  };

  // How many there are, `most` at most.
  std::size_t ready(std::size_t most) noexcept {
    const auto wanted = detail::min<std::uint64_t>(most, this->ring_.capacity());
    return static_cast<std::size_t>(detail::min(this->end_.items(wanted), wanted));
  }
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
