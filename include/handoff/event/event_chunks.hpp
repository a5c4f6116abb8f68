// SPDX-License-Identifier: MIT
//
// An unbounded row of events in recycled chunks: producers claim places by one addition, consumers
// take them in that order.
//
// The word that producers add to is the address of the newest chunk with the next free place in its
// low bits, so one atomic operation gives a producer its place and the chunk that it lies in, which
// cannot go away before the place is filled and taken. docs/design/event_queue.md has the protocol.
// For: EventQueue. Not for: users.
// Concurrency: push(), close to everything by any thread; what is said to be for consumers under a
// lock of theirs. Blocks: a producer in the moment when another one appends a chunk.
// Allocates: a chunk now and then, from a pool; push() may throw std::bad_alloc, and what making
// the event throws: its place is then passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/min_max.hpp>
#include <handoff/event/chunk_pool.hpp>
#include <handoff/sync/allocate.hpp>
#include <handoff/sync/atomic.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/cell.hpp>

namespace handoff::inline HANDOFF_ABI::detail {

template <class Event>
class EventChunks {
 public:
  // Of a place, with the life that its chunk is in. What was said in an earlier life says nothing:
  // so a place is free again without a store, and its line is not taken from who fills it next.
  enum State : std::uint32_t {
    kReady = 1,  // holds an event
    kVoid,       // its event could not be made: passed over
    kGone,       // its event has been destroyed: passed over
  };

  struct Slot {
    sync::atomic<std::uint32_t> state{0};
    sync::raw_cell<Event> event;
  };

  struct Chunk : ChunkLayout {
    sync::cell<std::uint64_t> first_index;  // of its first place, in the order of all events
    sync::cell<std::uint32_t> life;         // a multiple of kLife, not 0
    // What consumers write lies apart from what producers read.
    alignas(sync::cache_line) sync::atomic<Chunk*> next{nullptr};
    std::uint32_t done = 0;  // places given back, and one when the head has left; for consumers

    Slot& slot(std::uint32_t offset) noexcept {
      return reinterpret_cast<Slot*>(reinterpret_cast<std::byte*>(this) + kHeader)[offset];
    }
  };

  // A place that a consumer has.
  struct Place {
    Chunk* chunk;
    std::uint32_t offset;

    Slot& slot() const noexcept { return chunk->slot(offset); }
    // Its state, if it is `state`.
    std::uint32_t stamp(State state) const noexcept { return chunk->life.read() + state; }
    std::uint64_t index() const noexcept { return chunk->first_index.read() + offset; }
  };

  // Some in a row.
  struct Run {
    Place first;
    std::uint32_t count;
  };

  EventChunks() : head_{make_chunk(0), 0}, tail_(word(head_.chunk)) {}
  // All places must have been given back.
  ~EventChunks() { free_chunk(head_.chunk); }
  EventChunks(const EventChunks&) = delete;
  EventChunks& operator=(const EventChunks&) = delete;

  // Makes an event from what it is constructed from.
  template <class... Args>
  void push(Args&&... args) {
    const Place place = claim();
    Slot& slot = place.slot();
    struct Guard {  // for an event that cannot be made
      Slot* slot;
      std::uint32_t stamp;
      ~Guard() {
        // order: release pairs with the acquire in ready(), as below.
        if (slot != nullptr) slot->state.store(stamp, sync::order::release);
      }
    } guard{&slot, place.stamp(kVoid)};
    slot.event.construct(std::forward<Args>(args)...);
    guard.slot = nullptr;
    // order: release pairs with the acquire in ready(): the event is whole.
    slot.state.store(place.stamp(kReady), sync::order::release);
  }

  // Consumers: how many places have been claimed so far; each of them will be ready.
  std::uint64_t end_index() const noexcept {
    // order: acquire pairs with the release in append(). The chunk is there: it is the head's or a
    // later one, and the head does not leave it while this word names it.
    const std::uintptr_t tail = tail_.load(sync::order::acquire);
    const auto claimed = detail::min<std::uintptr_t>(offset_of(tail), kPlaces);
    return chunk_of(tail)->first_index.read() + claimed;
  }

  // Consumers: takes ready places in a row from the head, at most so many and below `end`.
  Run take(std::uint32_t most, std::uint64_t end) noexcept {
    if (head_.offset == kPlaces && !advance()) return {head_, 0};
    const std::uint64_t index = head_.index();
    if (index >= end) return {head_, 0};
    most = detail::min(most, kPlaces - head_.offset);
    most = static_cast<std::uint32_t>(detail::min<std::uint64_t>(most, end - index));
    Run run{head_, 0};
    while (run.count < most && ready({head_.chunk, head_.offset + run.count})) ++run.count;
    head_.offset += run.count;
    return run;
  }

  // Consumers, after a take() that nothing but what was ready had limited: where what is there now
  // ends. A place that was not ready holds back the rest.
  std::uint64_t end_after_taking() const noexcept {
    return head_.offset == kPlaces ? end_index() : head_.index();
  }

  // Consumers: whether take() would find something.
  bool any_ready() noexcept {
    if (head_.offset == kPlaces && !advance()) return false;
    return ready(head_);
  }

  // Consumers: gives back so many places of a chunk, taken before and without events now.
  static void finish(Chunk& chunk, std::uint32_t places) noexcept {
    chunk.done += places;
    if (chunk.done == kPlaces + 1) free_chunk(&chunk);
  }

  static constexpr std::size_t kAlignment = detail::max(alignof(Slot), alignof(ChunkLayout));
  static constexpr std::size_t kHeader = (sizeof(Chunk) + kAlignment - 1) / kAlignment * kAlignment;
#if defined(HANDOFF_EXPLORE)
  static constexpr std::uint32_t kPlaces = 2;  // so that small scenarios come to the end of a chunk
#else
  static constexpr std::uint32_t kPlaces =
      static_cast<std::uint32_t>((kChunkBytes - kHeader) / sizeof(Slot));
#endif

 private:
  static constexpr std::uint32_t kLife = 4;  // leaves room for a State

  static_assert(kHeader + 4 * sizeof(Slot) <= kChunkBytes,
                "the arguments of an event are too large: put them behind a unique_ptr");

  static std::uintptr_t word(Chunk* chunk) noexcept {
    return reinterpret_cast<std::uintptr_t>(chunk);
  }
  static Chunk* chunk_of(std::uintptr_t word) noexcept {
    return reinterpret_cast<Chunk*>(word & ~std::uintptr_t{kChunkBytes - 1});
  }
  static std::uintptr_t offset_of(std::uintptr_t word) noexcept { return word % kChunkBytes; }

  static Chunk* make_chunk(std::uint64_t first_index) {
    static const char tag = 0;
    void* const memory = take_chunk();
    auto* chunk = static_cast<Chunk*>(static_cast<ChunkLayout*>(memory));
    std::uint32_t life = chunk->tag == &tag ? chunk->life.read() + kLife : 0;
    if (life != 0) {
      chunk->next.store(nullptr, sync::order::relaxed);  // order: relaxed, nobody knows it yet
      chunk->done = 0;
    } else {  // it was nothing yet, or something else, or lives would repeat
      chunk = ::new (memory) Chunk;
      std::uninitialized_default_construct_n(&chunk->slot(0), kPlaces);
      chunk->tag = &tag;
      life = kLife;
    }
    chunk->life.write() = life;
    chunk->first_index.write() = first_index;
    return chunk;
  }

  static void free_chunk(Chunk* chunk) noexcept {
#if defined(HANDOFF_EXPLORE)
    std::destroy_n(&chunk->slot(0), kPlaces);
    std::destroy_at(chunk);
#endif
    give_chunk(chunk);
  }

  // A producer's place.
  Place claim() {
    // order: acquire pairs with the release in append(): the chunk is made.
    const std::uintptr_t tail = tail_.fetch_add(1, sync::order::acquire);
    const std::uintptr_t offset = offset_of(tail);
    if (offset < kPlaces) [[likely]] return {chunk_of(tail), static_cast<std::uint32_t>(offset)};
    return claim_behind(tail);
  }

  // The same where that addition found the chunk full.
  Place claim_behind(std::uintptr_t tail) {
    for (sync::Backoff backoff;;) {
      if (offset_of(tail) == kPlaces) return {append(chunk_of(tail)), 0};
      wait(backoff);
      tail = tail_.fetch_add(1, sync::order::acquire);  // order: acquire, as in claim()
      if (offset_of(tail) < kPlaces) {
        return {chunk_of(tail), static_cast<std::uint32_t>(offset_of(tail))};
      }
    }
  }

  // Until the chunk that was full has a successor, or appending it has failed.
  void wait(sync::Backoff& backoff) noexcept {
    // order: relaxed, the addition that follows acquires.
    while (offset_of(tail_.load(sync::order::relaxed)) > kPlaces) {
      if (!backoff.snooze()) backoff.reset(), sync::yield();
    }
  }

  // By the one producer that found the chunk just full: makes the next one and takes its first
  // place.
  Chunk* append(Chunk* full) {
    struct Guard {  // without memory another producer has to try
      EventChunks* chunks;
      Chunk* full;
      ~Guard() {
        if (chunks == nullptr) return;
        // order: release, as below: the next one to try must see the chunk too.
        chunks->tail_.store(word(full) + kPlaces, sync::order::release);
      }
    } guard{this, full};
    Chunk* const next = make_chunk(full->first_index.read() + kPlaces);
    guard.chunks = nullptr;
    // order: relaxed, read by consumers after the release below.
    full->next.store(next, sync::order::relaxed);
    // order: release pairs with the acquires in claim(), end_index() and advance(). What others
    // have added meanwhile is dropped: they wait for this.
    tail_.store(word(next) + 1, sync::order::release);
    return next;
  }

  static bool ready(Place place) noexcept {
    // order: acquire pairs with the releases in push().
    const std::uint32_t state = place.slot().state.load(sync::order::acquire);
    return (state & ~(kLife - 1)) == place.chunk->life.read();
  }

  // Moves the head from the end of its chunk to the next one. Not before the tail has left it: the
  // chunk that the tail names must be there.
  bool advance() noexcept {
    // order: acquire pairs with the release in append().
    if (chunk_of(tail_.load(sync::order::acquire)) == head_.chunk) return false;
    Chunk& old = *head_.chunk;
    head_ = {old.next.load(sync::order::relaxed), 0};  // order: relaxed, ordered by the tail
    finish(old, 1);
    return true;
  }

  Place head_;  // the next to take; consumers'
  alignas(sync::destructive_span) sync::atomic<std::uintptr_t> tail_;
};

}  // namespace handoff::inline HANDOFF_ABI::detail
