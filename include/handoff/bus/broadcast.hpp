// SPDX-License-Identifier: MIT
//
// A bounded ring of messages from one thread or many; every consumer sees each message.
//
//   Broadcast<Tick> ticks(1024);
//   auto book = ticks.consumer();                            // any thread; joins
//   auto audit = ticks.consumer({.after = {book}});          // each message only after `book`
//   Status s = ticks.push(Tick{7});                          // any thread; waits for the slowest
//   book.consume([](const Tick& tick) { apply(tick); });     // what is there, in its place
//   while (audit.wait_and_consume(log_tick) == Status::ok) { ... }    // until closed and drained
//
// For: one stream that several threads follow, each for itself; stages that follow one another over
// the same messages without a copy. Not for: work of which each item is done once (Channel,
// MpmcRing); messages of many types to one consumer (MessageBus); the newest value only (Latest).
// Policies (broadcast_policies.hpp): many producers or one, and what a slow consumer does to them
// (no option: losing messages costs an exchange and a copy for each).
// Contract: transfer tier.
// - Concurrency: consumer() is thread-safe; with many producers, so are close() and all calls that
//   publish. OneProducer: one thread at a time publishes and closes, and not while a claim is open.
//   A Consumer and a Claim each belong to one thread at a time.
// - Order: one for all consumers; each producer's messages keep its order. An open claim holds up,
//   for all consumers, what was claimed after it. What came before a publication happens before its
//   visits; a visit happens before the visits of consumers after this one, and before the place is
//   used again.
// - Blocks: push(), claim(), and calls with `wait` in the name. Joining and leaving take a lock.
// - Allocates: the constructor, unless storage is lent; consumer(), unless another one has left.
// - Full: the slowest consumer is behind by as many messages as there are places, or the message of
//   one lap before is claimed and not published. Without a consumer nothing is full, and messages
//   are seen by nobody. Under OnFull::overwrite_oldest a consumer that is so far behind is moved up
//   instead. It visits copies; `full` then means that a copy is under way or a message is not yet
//   published, and push() spins and yields for that long.
// - Joining: a consumer sees each message claimed after consumer() returned, and none claimed
//   before the call. Leaving: leave(), or the end of the Consumer; the consumers after it go on
//   without it. A visitor may publish by try_*, let others join and leave, close, and leave itself.
// - Closed: a claim that was given before may still be published.
// - Exceptions: if a message's constructor throws, its place is given up. If a visitor throws, its
//   message counts as consumed by this consumer.
// - Destruction: after all consumers and claims. A message lives until its place is used again.
// Source: the sequences of M. Thompson et al., "Disruptor" (2011),
// https://lmax-exchange.github.io/disruptor/. Protocol and proof: docs/design/broadcast.md.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/bus/broadcast_options.hpp>
#include <handoff/bus/broadcast_policies.hpp>
#include <handoff/bus/detail/broadcast_places.hpp>
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/draining.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T, class Policies = BroadcastPolicies>
class Broadcast {
  static_assert(detail::HeldByValue<T>,
                "a broadcast holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a broadcast's message must move without throwing: mark its move constructor "
                "noexcept, or hold a std::unique_ptr to it");
  static_assert(Policies::on_full == OnFull::wait || Policies::on_full == OnFull::overwrite_oldest,
                "a broadcast waits or overwrites the oldest; try_push() is there to reject");
  static constexpr bool kMany = Policies::many_producers;
  static constexpr bool kLossy = Policies::on_full == OnFull::overwrite_oldest;
  static_assert(!kLossy || std::copy_constructible<T>,
                "a consumer that may lose messages visits copies: the message must be copyable");
  using Ticket = detail::BroadcastTicket;

 public:
  using value_type = T;
  // What consumer() takes: only one that loses nothing comes after others.
  using ConsumerOptions = std::conditional_t<kLossy, LossyBroadcastOptions, BroadcastOptions>;
  class Consumer;
  class Claim;

  // At least `capacity` places, rounded up to a power of two, in the caller's storage if there is
  // one: it has storage_bytes(capacity) bytes and lives longer. 0 is misuse; throws
  // std::length_error for more places than there can be, and for a storage that is too small.
  explicit Broadcast(std::size_t capacity, std::span<std::byte> storage = {})
      : Broadcast(capacity, detail::RingStart{}, storage) {}
  ~Broadcast() { places_.destroy_all(ticket_of(tail())); }
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  // How many messages have room.
  std::size_t capacity() const noexcept { return places_.capacity(); }
  static constexpr std::size_t storage_bytes(std::size_t capacity) {
    return Memory::storage_bytes(capacity);
  }

  // --- Publish. ---

  // ok, full or closed. What is not ok leaves the message as it was.
  Status try_push(T&& message) noexcept { return try_emplace(std::move(message)); }
  template <detail::ConvertsToItem<T> From>
  Status try_push(From&& message) noexcept(std::is_nothrow_constructible_v<T, From>) {
    return try_emplace(std::forward<From>(message));
  }
  Status try_push(const T& message) noexcept(std::is_nothrow_copy_constructible_v<T>)
    requires std::copy_constructible<T>
  {
    return try_emplace(message);
  }

  // Makes the message in its place, if there is one; one whose constructor may throw is moved in.
  template <class... Args>
  Status try_emplace(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    const Taken taken = claim_places(1);
    if (taken.count == 0) return is_closed(taken.first) ? Status::closed : Status::full;
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      places_.make(taken.first, std::forward<Args>(args)...);
    } else {
      detail::call_or([&] { places_.make(taken.first, T(std::forward<Args>(args)...)); },
                      [&]() noexcept { give_up(taken, 0); });
    }
    publish(taken.first, 1, 1);
    return Status::ok;
  }

  // Moves in the first messages, as many as have room in a row, and returns how many; the rest is
  // untouched. 0 once closed.
  std::size_t try_push_batch(std::span<T> messages) noexcept {
    if (messages.empty()) return 0;
    const Taken taken = claim_places(messages.size());
    const Places places = places_;
    for (std::size_t i = 0; i < taken.count; ++i) {
      places.make(taken.first + i * kStep, std::move(messages[i]));
    }
    if (taken.count != 0) publish(taken.first, taken.count, taken.count);
    return taken.count;
  }

  // Waits while the broadcast is full. ok, closed, timed_out or stopped. In a visitor of this
  // broadcast it says `full` and does not wait: its consumer would have to make the room.
  Status push(T&& message, const Until& until = {}) {
    return wait_for_room([&] { return try_push(std::move(message)); }, until);
  }
  Status push(const T& message, const Until& until = {})
    requires std::copy_constructible<T>
  {
    return push(T(message), until);  // a copy that throws does so before any waiting
  }
  template <detail::ConvertsToItem<T> From>
  Status push(From&& message, const Until& until = {}) {
    return wait_for_room([&] { return try_push(std::forward<From>(message)); }, until);
  }
  // The same, with the message made of `args` in its place. A limit comes first.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  Status emplace(Args&&... args) {
    return wait_for_room([&] { return try_emplace(std::forward<Args>(args)...); }, {});
  }
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  Status emplace(const Until& until, Args&&... args) {
    return wait_for_room([&] { return try_emplace(std::forward<Args>(args)...); }, until);
  }

  // Places in a row, as many as have room and `most` at most, to be filled in place. One without a
  // place says why in status().
  [[nodiscard]] Claim try_claim(std::size_t most = 1) noexcept {
    if (most == 0) return Claim(*this, {}, Status::ok);
    const Taken taken = claim_places(most);
    if (taken.count != 0) return Claim(*this, taken, Status::ok);
    return Claim(*this, {}, is_closed(taken.first) ? Status::closed : Status::full);
  }
  // Waits while there is none, as push() does.
  [[nodiscard]] Claim claim(std::size_t most = 1, const Until& until = {}) {
    Taken taken{};
    const Status status = wait_for_room(
        [&] {
          taken = claim_places(most);
          if (taken.count != 0 || most == 0) return Status::ok;
          return is_closed(taken.first) ? Status::closed : Status::full;
        },
        until);
    return Claim(*this, status == Status::ok ? taken : Taken{}, status);
  }

  // No push or claim that begins after this succeeds. Idempotent. OneProducer: only by that one.
  void close() noexcept {
    if constexpr (kMany) {
      // order: release pairs with the acquire in tail(): a thread that sees it sees what the closer
      // did.
      tail_.fetch_or(kClosed, sync::order::release);
    } else {
      // order: relaxed, only this thread writes it; release pairs with the acquire in tail().
      tail_.store(tail_.load(sync::order::relaxed) | kClosed, sync::order::release);
    }
    consumers_.tell();  // equivalent(swap): two kinds of sleepers that do not know each other
    producers_.tell();
  }
  bool closed() const noexcept { return is_closed(tail()); }

  // --- Consume. ---

  // Joins. Throws std::bad_alloc, and std::length_error for too many in `after`; misuse for one
  // that is of another broadcast or has left.
  [[nodiscard]] Consumer consumer(const ConsumerOptions& options = {}) {
    detail::BroadcastReader* const* before = nullptr;
    std::size_t before_count = 0;
    if constexpr (!kLossy) {
      // equivalent(swap): two variables of the call, which nobody reads if the first one's call
      // throws
      before = options.after.of(readers_);
      before_count = options.after.count();
    }
    detail::BroadcastReader& reader = readers_.join(before, before_count, tail_);
    sync::taken(&reader);  // another consumer may have had it
    // equivalent(swap): a member that only the consumer's waits ask for, which come later
    reader.spin_for = options.spin_for;
    producers_.tell();  // while it joined it may have looked like one far behind
    return Consumer(*this, reader);
  }

 protected:
  Broadcast(std::size_t capacity, detail::RingStart start, std::span<std::byte> storage = {})
      : memory_(capacity, {storage.data(), storage.size()}),
        places_(memory_, kStep * start.position),
        stride_(kStep * detail::max(detail::min(places_.capacity() / 4, kStrideMost), 1)),
        tail_(kStep * start.position),
        gate_(kStep * start.position) {
    sync::spin_policy();  // its first call in a process allocates
  }

 private:
  template <class>
  friend struct detail::Books;

  using Places = detail::BroadcastPlaces<T, kMany>;
  using Memory = typename Places::Memory;
  static constexpr Ticket kStep = detail::kBroadcastStep;
  static constexpr Ticket kClosed = 1;  // in tail_
  // A consumer says at least this often where it is, so that producers need not wait for the end of
  // a long batch; more often would be a cache miss more for them.
  static constexpr std::size_t kStrideMost = 256;

  // Places in a row that nobody else has. If none, `first` is the tail.
  struct Taken {
    Ticket first = 0;
    std::size_t count = 0;
  };

  static constexpr bool is_closed(Ticket tail) noexcept { return (tail & kClosed) != 0; }
  static constexpr Ticket ticket_of(Ticket tail) noexcept { return tail & ~kClosed; }

  Ticket tail() const noexcept {
    // order: acquire pairs with the releases of the tail: with one producer all messages before it
    // are there.
    return tail_.load(sync::order::acquire);
  }

  // --- Producers. ---

  Ticket gate() const noexcept {
    if constexpr (kMany) {
      // order: acquire pairs with the release in look_for_room(): what consumers had read when
      // another producer looked, they have read.
      return gate_.load(sync::order::acquire);
    } else {
      return gate_;
    }
  }

  // How many places from `tail` on no consumer needs, as far as `gate` tells. A consumer that is
  // just joining may be further behind than there are places.
  std::size_t room(Ticket tail, Ticket gate) const noexcept {
    const auto all = static_cast<std::int64_t>(capacity());
    const std::int64_t used = detail::messages_between(gate, tail);
    if (used <= 0) return capacity();  // equivalent(bound): all places less none are all places
    return used < all ? static_cast<std::size_t>(all - used) : 0;
  }

  // The same after a look at all consumers, for `count` places. Seldom: once a lap, or to no avail.
  [[gnu::noinline]] std::size_t look_for_room(Ticket tail, std::size_t count) noexcept {
    Ticket gate = 0;
    if constexpr (kLossy) {
      gate = readers_.slowest_moved_up(tail, tail + kStep * count - places_.lap());
      sync::taken(&readers_);
    } else {
      (void)count;
      gate = readers_.slowest(tail);
      sync::taken(&readers_);
    }
    if constexpr (kMany) {
      // order: release pairs with the acquire in gate().
      // equivalent(delete): only speed: each claim behind the first lap looks at all consumers
      gate_.store(gate, sync::order::release);
    } else {
      gate_ = gate;
    }
    return room(tail, gate);
  }

  Taken claim_places(std::size_t most) noexcept {
    // order: relaxed, with one producer only this thread writes it; with many the places order.
    Ticket tail = tail_.load(sync::order::relaxed);
    for (;;) {
      if (is_closed(tail)) [[unlikely]]
        return {tail, 0};
      std::size_t count = detail::min(most, capacity());
      if constexpr (kMany) {
        count = ready_places(tail, count);
        // equivalent(bound): published between two looks: it looks again in place of saying full
        if (count == 0 && most != 0 && places_.distance(tail - places_.lap()) > 0) {
          // order: relaxed. The producer that used the place had moved the tail before, and we read
          // with acquire what was written there.
          tail = tail_.load(sync::order::relaxed);
          continue;
        }
      }
      // equivalent(bound): one look more at the consumers
      if (room(tail, gate()) < count) count = detail::min(count, look_for_room(tail, count));
      if (!kMany || count == 0) return {tail, count};
      // order: relaxed, the places and the gate carry all order. What was ready stays so: only the
      // holder of its ticket may change it, and by this exchange that is us.
      if (tail_.compare_exchange_weak(tail, tail + kStep * count, sync::order::relaxed,
                                      sync::order::relaxed)) {
        return {tail, count};
      }
    }
  }

  // From `first` on, how many whose message of one lap before is published or dropped.
  std::size_t ready_places(Ticket first, std::size_t most) const noexcept {
    const Places places = places_;
    return places.done_from(first - places.lap(), most);
  }

  // The first `made` of `count` claimed places have a message; the others are given up.
  void publish(Ticket first, std::size_t made, std::size_t count) noexcept {
    if constexpr (kMany) {
      const Places places = places_;
      for (std::size_t i = 0; i < made; ++i) places.publish(first + kStep * i);
      for (std::size_t i = made; i < count; ++i) give_up(first + kStep * i, false);
      consumers_.tell();  // equivalent(swap): two kinds of sleepers that do not know each other
      // One lap on, a producer waits for this one. With consumers they are the ones to tell it.
      producers_.tell();
    } else {
      // order: release pairs with the acquire in tail(): the messages are there.
      tail_.store(first + kStep * made, sync::order::release);
      consumers_.tell();
    }
  }
  void give_up(Ticket ticket, bool made) noexcept {
    places_.unmake(ticket, made);
    if constexpr (kMany) places_.drop(ticket);
  }
  // The whole claim, whose first `made` places have a message.
  void give_up(Taken taken, std::size_t made) noexcept {
    for (std::size_t i = 0; i < taken.count; ++i) give_up(taken.first + kStep * i, i < made);
    if constexpr (kMany) {
      consumers_.tell();  // equivalent(swap): two kinds of sleepers that do not know each other
      producers_.tell();
    }
  }

  template <class Attempt>
  Status wait_for_room(const Attempt& attempt, const Until& until) {
    Status status = attempt();
    if (status != Status::full) return status;
    if (!kLossy && detail::Draining::is_here(this)) return status;
    // The end of a copy is near, and nobody is told of it.
    const auto spin_for = kLossy ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(-1);
    const Status waited = producers_.wait([&] { return (status = attempt()) != Status::full; },
                                          spin_for, until, "full");
    return waited == Status::ok ? status : waited;
  }

  Memory memory_;
  const Places places_;
  const Ticket stride_;
  detail::BroadcastReaders readers_;

  // The producers' line. Tickets grow by four and run over at 2^64.
  alignas(sync::destructive_span) sync::atomic<Ticket> tail_;  // of the next message, | kClosed
  std::conditional_t<kMany, sync::atomic<Ticket>, Ticket> gate_;  // the slowest consumer, or before

  // The sleepers.
  alignas(sync::destructive_span) detail::Parked consumers_;
  detail::Parked producers_;
};

// Places in hand. Each emplace() or renew() fills the next one; publish() lets all see those that
// are filled and gives the rest back; the end of a claim that was not published gives back all.
template <class T, class Policies>
class Broadcast<T, Policies>::Claim {
 public:
  Claim(Claim&& other) noexcept
      : broadcast_(other.broadcast_),
        places_(other.places_),
        taken_(std::exchange(other.taken_, {})),
        made_(std::exchange(other.made_, 0)),
        status_(other.status_) {}
  Claim& operator=(Claim&&) = delete;
  ~Claim() { drop(); }

  // Whether there are places.
  explicit operator bool() const noexcept { return taken_.count != 0; }
  // ok, or why there is none: full, closed, timed_out or stopped.
  Status status() const noexcept { return status_; }
  // How many places, filled ones included.
  std::size_t size() const noexcept { return taken_.count; }

  // Makes the next message in its place; one whose constructor may throw is made before and moved
  // in. Misuse if all places are filled.
  template <class... Args>
  T& emplace(Args&&... args) {
    check_room();
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      return places_.make(next(), std::forward<Args>(args)...);
    } else {
      T message(std::forward<Args>(args)...);
      return places_.make(next(), std::move(message));
    }
  }

  // The message that lies in the next place from a lap ago, to be written over, or T() in the first
  // lap: nothing is made or zeroed, and what it owns is used again. Consumers may have written it.
  T& renew()
    requires std::default_initializable<T>
  {
    check_room();
    T& message = places_.renew(taken_.first + kStep * made_);
    ++made_;
    return message;
  }

  // Once.
  void publish() noexcept {
    if (taken_.count == 0) return;
    broadcast_->publish(taken_.first, made_, taken_.count);
    taken_ = {};
  }

  // Gives all back.
  void drop() noexcept {
    if (taken_.count == 0) return;
    broadcast_->give_up(taken_, made_);
    taken_ = {};
  }

 private:
  friend class Broadcast;
  Claim(Broadcast& broadcast, Taken taken, Status status) noexcept
      : broadcast_(&broadcast), places_(broadcast.places_), taken_(taken), status_(status) {}

  void check_room() const {
    if (made_ >= taken_.count) misuse("a claim has no place left: claim as many as you fill");
  }
  Ticket next() noexcept { return taken_.first + kStep * made_++; }

  Broadcast* broadcast_;
  Places places_;
  Taken taken_;
  std::size_t made_ = 0;
  Status status_;
};

}}  // namespace handoff::HANDOFF_ABI

#include <handoff/bus/broadcast_consumer.hpp>

#pragma pop_macro("Status")
