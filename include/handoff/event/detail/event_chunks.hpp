// SPDX-License-Identifier: MIT
//
// An unbounded row of events in recycled chunks: producers claim places by one addition, consumers
// take them in that order.
//
// The word that producers add to is the address of the newest chunk with the next free place in its
// low bits, so one atomic operation gives a producer its place and the chunk that it lies in, which
// cannot go away before the place is filled and taken. A thread that has added alone for a while
// goes on without atomic operations, until another one comes. docs/design/event_queue.md has the
// protocol.
// For: EventQueue. Not for: users.
// Concurrency: claim() and fill() by any thread; what is said to be for consumers under a lock of
// theirs. Blocks: a producer in the moment when another one appends a chunk, or when it is
// the second one.
// Allocates: a chunk now and then, from a pool; claim() may throw std::bad_alloc, fill() what
// making the event throws: its place is then passed over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/memory/internal/chunk_pool.hpp>
#include <handoff/memory/internal/thread_id.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/prefetch.hpp>
#include <handoff/sync/internal/relaxed.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A thread that has been the lone producer of a queue.
struct LoneProducer {
  sync::atomic<std::uint64_t> thread{LoneThread::kNobody};  // its number
  sync::atomic<std::uintptr_t> own{0};  // what the tail is otherwise; that thread writes it
  sync::atomic<std::uintptr_t> last{0};  // what it was when another one ended that; 0: not yet

  bool is_me() const noexcept {
    return thread.load(sync::order::relaxed) == LoneThread::number();  // order: relaxed, a number
  }
};

// A Slot is a place: it has a `state` that is 0 at first, construct(args...) and destroy().
template <class Slot>
class EventChunks {
 public:
  // A place has one, with the life that its chunk is in. What was said in an earlier life is void:
  // so a place is free again without a store, and its line is not taken from the thread that fills
  // it next.
  enum State : std::uint32_t {
    kReady = 1,  // holds an event
    kVoid,  // its event could not be made: passed over
    kGone,  // its event has been destroyed: passed over
  };

  struct Chunk : ChunkLayout {
    sync::cell<std::uint64_t> first_index;  // of its first place, in the order of all events
    sync::cell<std::uint32_t> life;  // a multiple of kLife, not 0
    // What consumers write lies apart from what producers read.
    alignas(sync::cache_line) sync::atomic<Chunk*> next{nullptr};
    std::uint32_t done = 0;  // places given back, and one when the head has left; for consumers

    Slot& slot(std::uint32_t offset) noexcept {
      return reinterpret_cast<Slot*>(reinterpret_cast<std::byte*>(this) + kHeader)[offset];
    }
  };

  // A place that a consumer has.
  struct ChunkPlace {
    Chunk* chunk;
    std::uint32_t offset;

    Slot& slot() const noexcept { return chunk->slot(offset); }
    // Its state, if it is `state`.
    std::uint32_t stamp(State state) const noexcept { return chunk->life.read() + state; }
    std::uint64_t index() const noexcept { return chunk->first_index.read() + offset; }
  };

  // Some in a row.
  struct Run {
    ChunkPlace first;
    std::uint32_t count;
  };

  EventChunks() : head_{make_chunk(0), 0}, tail_(word(head_.chunk)) {}
  // All places must have been given back.
  ~EventChunks() { free_chunk(head_.chunk); }

  // A place for a producer, which then fills it; none, without a chunk, once the row is closed.
  // Throws std::bad_alloc, and there is none.
  ChunkPlace claim() {
    // order: relaxed: this thread alone makes itself the lone producer, and writes what is its own.
    LoneProducer* const lone = lone_.load(sync::order::relaxed);
    if (lone != nullptr && lone->is_me()) {
      const std::uintptr_t own = lone->own.load(sync::order::relaxed);  // order: as above
      if (claim_alone(*lone, own)) [[likely]] {
        const ChunkPlace place{chunk_of(own), static_cast<std::uint32_t>(offset_of(own))};
        sync::prefetch_to_write(reinterpret_cast<const std::byte*>(&place.slot()) + kAhead);
        return place;
      }
    }
    // order: acquire pairs with the release in append(): the chunk is made.
    const std::uintptr_t tail = tail_.fetch_add(1, sync::order::acquire);
    const std::uintptr_t offset = offset_of(tail);
    if (offset < kPlaces) [[likely]]
      return {chunk_of(tail), static_cast<std::uint32_t>(offset)};
    return claim_behind(tail);
  }

  // Makes an event from what it is constructed from, in a place that was claimed for it.
  template <class... Args>
  void fill(const ChunkPlace& place, Args&&... args) {
    Slot& slot = place.slot();
    call_or([&] { slot.construct(std::forward<Args>(args)...); },
            [&] {
              voids_.add(1);
              // order: release pairs with the acquire in ready(), as below.
              slot.state.store(place.stamp(kVoid), sync::order::release);
            });
    probe::hand_over(probe::Kind::event, &slot);
    // order: release pairs with the acquire in ready(): the event is whole.
    slot.state.store(place.stamp(kReady), sync::order::release);
  }

  // No place is claimed any more, and each that was is one of those that end_index() counts. At
  // most once.
  void close() noexcept {
    LoneProducer& end = lones_.back();
    for (sync::Backoff backoff;;) {
      // order: acquire pairs with the releases in append(), leave_alone() and end_alone().
      std::uintptr_t tail = tail_.load(sync::order::acquire);
      if (offset_of(tail) > kPlaces) {
        wait(backoff);
        continue;
      }
      end.own.store(tail, sync::order::relaxed);  // order: relaxed, the exchange publishes it
      // order: release pairs with the acquire in newest(), acquire as above. Others store a tail
      // only where it is behind the end of a chunk.
      if (tail_.compare_exchange_weak(tail, alone(end), sync::order::acq_rel,
                                      sync::order::relaxed)) {
        return;
      }
    }
  }

  // Consumers: whether it is closed, and all places have been taken. For good, but for put_back().
  bool over() const noexcept {
    // order: acquire pairs with the release in close().
    return is_end(tail_.load(sync::order::acquire)) && head_.index() == end_index();
  }

  // How many of the places that have been claimed never came to hold an event.
  std::uint64_t voids() const noexcept { return voids_.get(); }

  // Consumers: how many places have been claimed so far; each of them will be ready.
  std::uint64_t end_index() const noexcept {
    // The chunk is there: it is the head's or a later one, and the head does not leave it while
    // this word names it.
    const std::uintptr_t tail = newest();
    const auto claimed = detail::min<std::uintptr_t>(offset_of(tail), kPlaces);
    return chunk_of(tail)->first_index.read() + claimed;
  }

  // Consumers: takes places in a row from the head, at most `most` and below `end`: some that hold
  // events, or one that is passed over.
  Run take(std::uint32_t most, std::uint64_t end) noexcept {
    if (head_.offset == kPlaces && !advance()) return {head_, 0};
    const std::uint64_t index = head_.index();
    if (index >= end) return {head_, 0};
    most = detail::min(most, kPlaces - head_.offset);
    most = static_cast<std::uint32_t>(detail::min<std::uint64_t>(most, end - index));
    Run run{head_, 0};
    const std::uint32_t holds_event = head_.stamp(kReady);
    while (run.count < most && state(head_.chunk->slot(head_.offset + run.count)) == holds_event) {
      ++run.count;
    }
    if (run.count == 0 && ready(head_)) run.count = 1;
    head_.offset += run.count;
    return run;
  }

  // Consumers: puts back the last `count` places of the run that was just taken.
  void put_back(std::uint32_t count) noexcept { head_.offset -= count; }

  // Consumers, after a take() that nothing but what was there had limited: where what is there now
  // ends. A place that is not ready holds back the rest.
  std::uint64_t end_after_taking() const noexcept {
    return head_.offset == kPlaces || ready(head_) ? end_index() : head_.index();
  }

  // Consumers: how far from the places of this chunk those lie that are to be fetched meanwhile,
  // in bytes: in the next chunk, if all of its places have been claimed, as `end` says. Otherwise
  // 0: to look at a place that is being filled would take its line from the producer.
  static std::ptrdiff_t ahead(const Chunk& chunk, std::uint64_t end) noexcept {
    if (end < chunk.first_index.read() + 2 * kPlaces) return 0;
    // order: relaxed, ordered by the tail that says so.
    return reinterpret_cast<const std::byte*>(chunk.next.load(sync::order::relaxed)) -
           reinterpret_cast<const std::byte*>(&chunk) - static_cast<std::ptrdiff_t>(kAhead);
  }

  // Consumers: whether take() would find something.
  bool any_ready() noexcept {
    if (head_.offset == kPlaces && !advance()) return false;
    if (!ready(head_)) return false;
    // The waiting consumer will take it: its other line is on its way from the producer meanwhile.
    sync::prefetch_to_read(&head_.slot() + 1);
    return true;
  }

  // Consumers: gives back `places` of a chunk, taken before and without events now.
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
  template <class>
  friend struct Books;

  static constexpr std::uint32_t kLife = 4;  // leaves room for a State

  // Chunks in a row by one thread before it goes on alone: this number at first, twice as many each
  // time that another one came before it was worth it, which costs as much as a few chunks gain,
  // and half as many each time that it was: two that take turns on a CPU are alone for long.
#if defined(HANDOFF_EXPLORE)
  static constexpr std::uint32_t kNeeded = 1, kMostNeeded = 2, kWorthIt = 1;
#else
  static constexpr std::uint32_t kNeeded = 2, kMostNeeded = 1024, kWorthIt = 16;
#endif

  // How far ahead of its place a lone producer fetches those that it will fill, in bytes: about
  // what it fills in the time that memory takes. Behind the end of a chunk lies, mostly, the next.
  // Found by trying: with multiples of 4096, and some others, a million events take a third longer.
  static constexpr std::size_t kAhead = 2048;

  // All that places without events have of their slots is their states, which come first in them:
  // chunks of slots of one size and alignment are alike. No address, for what had it may be
  // unloaded, and something else then lie there.
  static constexpr std::uint64_t kMadeAs = std::uint64_t{sizeof(Slot)} << 32 | alignof(Slot);

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
    void* const memory = take_chunk();
    auto* chunk = static_cast<Chunk*>(static_cast<ChunkLayout*>(memory));
    std::uint32_t life = chunk->made_as == kMadeAs ? chunk->life.read() + kLife : 0;
    if (life != 0) {
      chunk->next.store(nullptr, sync::order::relaxed);  // order: relaxed, nobody knows it yet
      chunk->done = 0;
    } else {  // it was nothing yet, or something else, or lives would repeat
      chunk = ::new (memory) Chunk;
      std::uninitialized_default_construct_n(&chunk->slot(0), kPlaces);
      chunk->made_as = kMadeAs;
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

  // Whether the lone producer has got this place: claimed first, and asked afterwards.
  bool claim_alone(LoneProducer& lone, std::uintptr_t own) noexcept {
    if (offset_of(own) == kPlaces) [[unlikely]] {
      leave_alone(lone, own);
      return false;
    }
    // order: release pairs with the acquire in newest().
    lone.own.store(own + 1, sync::order::release);
    sync::asymmetric_fence_light();
    // order: relaxed, ordered by the fences: either this sees that another one has come, or that
    // one sees the place claimed.
    return lone_.load(sync::order::relaxed) == &lone || claimed_in_time(lone, own + 1);
  }

  // Whether the other one that has come has seen that claim all the same.
  [[gnu::noinline]] static bool claimed_in_time(LoneProducer& lone, std::uintptr_t own) noexcept {
    for (sync::Backoff backoff;; backoff.snooze_on()) {
      const std::uintptr_t last = lone.last.load(sync::order::relaxed);  // order: a word alone
      if (last != 0) return last == own;
    }
  }

  // By the lone producer itself, at the end of a chunk: appending is a matter of all.
  [[gnu::noinline]] void leave_alone(LoneProducer& lone, std::uintptr_t own) noexcept {
    LoneProducer* expected = &lone;
    // order: relaxed, what this thread has claimed goes with the tail, or with end_alone().
    if (lone_.compare_exchange_strong(expected, nullptr, sync::order::relaxed,
                                      sync::order::relaxed)) {
      tail_.store(own, sync::order::release);  // order: release pairs with claim() and newest()
    }
  }

  // Where claim()'s addition found the chunk full, or a lone producer. What is rare is kept out of
  // line, so that compilers put the rest where it is called: 4 ns an event.
  [[gnu::noinline]] ChunkPlace claim_behind(std::uintptr_t tail) {
    for (sync::Backoff backoff;;) {
      if (offset_of(tail) == kPlaces) return {append(chunk_of(tail)), 0};
      if (is_end(tail)) return {nullptr, 0};
      wait(backoff);
      tail = tail_.fetch_add(1, sync::order::acquire);  // order: acquire, as in claim()
      if (offset_of(tail) < kPlaces) {
        return {chunk_of(tail), static_cast<std::uint32_t>(offset_of(tail))};
      }
    }
  }

  // Until the chunk that was full has a successor, or appending it has failed, or the row is
  // closed; a lone producer is none from then on.
  void wait(sync::Backoff& backoff) noexcept {
    for (;;) {
      // order: relaxed, the operation that follows acquires.
      const std::uintptr_t tail = tail_.load(sync::order::relaxed);
      if (offset_of(tail) <= kPlaces || is_end(tail) || end_alone()) return;
      backoff.snooze_on();
    }
  }

  // By the one producer that found the chunk just full: makes the next one and takes its first
  // place.
  Chunk* append(Chunk* full) {
    Chunk* next = nullptr;
    // Without memory another producer has to try.
    // order: release, as below: the next one to try must see the chunk too.
    call_or([&] { next = make_chunk(full->first_index.read() + kPlaces); },
            [&] { tail_.store(word(full) + kPlaces, sync::order::release); });
    // order: relaxed, read by consumers after the release of the word that names the next one.
    full->next.store(next, sync::order::relaxed);
    if (LoneProducer* const lone = alone_so_far(); lone != nullptr) {
      lone->last.store(0, sync::order::relaxed);  // order: relaxed, ordered by the release of lone_
      // order: release pairs with the acquires in newest(), which may see either of the two first.
      lone->own.store(word(next) + 1, sync::order::release);
      tail_.store(alone(*lone), sync::order::release);  // order: as above
      // order: release pairs with the acquire in end_alone(), which may not come before that store.
      lone_.store(lone, sync::order::release);
    } else {
      // order: release pairs with the acquires in claim() and newest(). What others have added
      // meanwhile is dropped: they wait for this.
      tail_.store(word(next) + 1, sync::order::release);
    }
    return next;
  }

  // By the thread that appends: what it becomes if it has been alone for long enough to go on
  // alone, or null. Between two of these, and an end_alone(), lies a release and an acquire of the
  // tail.
  LoneProducer* alone_so_far() noexcept {
    if (!sync::light_fence_is_free() || !LoneThread::enroll()) return nullptr;
    const std::uint64_t number = LoneThread::number();
    if (std::exchange(appender_.write(), number) != number) appended_.write() = 0;
    if (++appended_.write() < needed_.read()) return nullptr;
    LoneProducer* of_nobody = nullptr;
    for (std::size_t i = 0; i < kLones; ++i) {
      LoneProducer& lone = lones_[i];
      // order: relaxed: only the appending thread writes it, and to others it is a number alone.
      const std::uint64_t owner = lone.thread.load(sync::order::relaxed);
      if (owner == number) return &lone;
      if (of_nobody == nullptr && LoneThread::ended(owner)) of_nobody = &lone;
    }
    // order: relaxed, as above
    if (of_nobody != nullptr) of_nobody->thread.store(number, sync::order::relaxed);
    return of_nobody;
  }

  // By another producer: lets all of them add to the tail again. False if there is nothing to end,
  // or somebody else does.
  bool end_alone() noexcept {
    LoneProducer* lone = lone_.load(sync::order::relaxed);  // order: relaxed, looked at again
    // order: acquire pairs with the release in append().
    if (lone == nullptr ||
        !lone_.compare_exchange_strong(lone, nullptr, sync::order::acquire, sync::order::relaxed)) {
      return false;
    }
    sync::asymmetric_fence_heavy();  // partner is the light half in claim_alone()
    // order: relaxed, a word alone: the chunk was made before that one was alone.
    const std::uintptr_t own = lone->own.load(sync::order::relaxed);
    lone->last.store(own, sync::order::relaxed);  // order: as above
    const bool was_worth_it = std::exchange(appended_.write(), 0) >= needed_.read() + kWorthIt;
    needed_.write() = was_worth_it ? detail::max(needed_.read() / 2, kNeeded)
                                   : detail::min(2 * needed_.read(), kMostNeeded);
    tail_.store(own, sync::order::release);  // order: release pairs with claim() and newest()
    return true;
  }

  // The tail while there is a lone producer: behind the end of no chunk.
  std::uintptr_t alone(const LoneProducer& lone) const noexcept {
    return static_cast<std::uintptr_t>(&lone - lones_.data()) * kChunkBytes + kPlaces + 1;
  }
  // Whether it is that of a row that is closed, with what others have added.
  static bool is_end(std::uintptr_t tail) noexcept { return tail / kChunkBytes == kLones; }

  // The word of the newest chunk, with how many of its places have been claimed, or more.
  std::uintptr_t newest() const noexcept {
    // order: acquire pairs with the releases in append(), leave_alone(), end_alone() and close().
    const std::uintptr_t tail = tail_.load(sync::order::acquire);
    if (tail >= lones_.size() * kChunkBytes) [[likely]]
      return tail;
    // order: acquire pairs with the releases in append() and claim_alone(): the chunk may be newer
    // than that tail.
    return lones_[tail / kChunkBytes].own.load(sync::order::acquire);
  }

  static std::uint32_t state(const Slot& slot) noexcept {
    // order: acquire pairs with the releases in push().
    return slot.state.load(sync::order::acquire);
  }
  static bool ready(ChunkPlace place) noexcept {
    return (state(place.slot()) & ~(kLife - 1)) == place.chunk->life.read();
  }

  // Moves the head from the end of its chunk to the next one. Not before the tail has left it: the
  // chunk that the tail names must be there.
  bool advance() noexcept {
    if (chunk_of(newest()) == head_.chunk) return false;
    Chunk& old = *head_.chunk;
    head_ = {old.next.load(sync::order::relaxed), 0};  // order: relaxed, ordered by the tail
    finish(old, 1);
    return true;
  }

  ChunkPlace head_;  // the next to take; consumers'
  sync::relaxed<std::uint64_t> voids_;

  // The word of the newest chunk, or alone() and what others have added.
  alignas(sync::destructive_span) sync::atomic<std::uintptr_t> tail_;

  alignas(sync::destructive_span) sync::atomic<LoneProducer*> lone_{nullptr};
  // One for each thread that has been alone and has not ended: one that is late, and no longer is
  // alone, writes to its own. The last is nobody's: its own word is where a closed row ends.
  static constexpr std::size_t kLones = 4;
  std::array<LoneProducer, kLones + 1> lones_;
  // Only the thread that appends uses these.
  sync::cell<std::uint64_t> appender_{0};  // the last one
  sync::cell<std::uint32_t> appended_{0};  // by that one in a row
  sync::cell<std::uint32_t> needed_{kNeeded};  // so that it goes on alone
};

}}}  // namespace handoff::HANDOFF_ABI::detail
