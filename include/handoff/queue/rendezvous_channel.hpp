// SPDX-License-Identifier: MIT
//
// A channel without places: a push waits until a pop takes the item.
//
//   RendezvousChannel<Job> jobs;
//   Status s = jobs.push(std::move(job));           // any thread; ok: another thread has it
//   s = jobs.push(std::move(job), 10ms);            // timed_out: nobody came, the job is untouched
//   if (jobs.try_push(std::move(job)) == Status::full) { ... }   // nobody waits in pop
//   std::optional<Job> next = jobs.pop();           // any thread; waits for a push
//   jobs.close();                                   // any thread
//
// For: a producer that must know that a consumer has the item, or must not run ahead of it; work
// that is offered only to a thread that is idle now (try_push). In other libraries: an unbuffered
// channel (Go), a channel of capacity 0, a SynchronousQueue (Java). Not for: throughput (each item
// costs a wake-up: Channel); the end of the work on an item (submit(), publish_and_wait()).
// Several channels at once: select.hpp.
//
// Tier: transfer. The calls are those of Channel; batches, consume() and sizes are not there, since
//   nothing ever lies in it.
// Concurrency: thread-safe.
// Order: waiting pushes are served first come, first served; so are waiting pops. What was done
//   before one of the two calls happens before the end of the other.
// Blocks: push() until a pop comes, pop() until a push comes. They spin for some microseconds, then
//   sleep, as long as their Until says; without one, for ever. try_* never wait: try_push() meets a
//   pop that waits, try_pop() a push that waits. A select meets a push, not a try_push().
// Timed out, stopped: exact. Either the two have met and both calls return `ok`, or the item is
//   still the caller's, unmoved; what would have been converted to one has not been.
// Closed: all that wait return `closed`, and so does every later call. Idempotent.
// Allocates: never, except what an Until says.
// Exceptions: a constructor or conversion that throws ends its push, which rethrows; the pop waits
//   on. It runs under a lock, perhaps on the pop's thread, and must not use this channel.
//   push(const T&) copies first.
// Destructor: close the channel and join its users first, as for a Channel.
// In a pool's task: wait inside blocking(), as for a Channel.
// Source: C. A. R. Hoare, "Communicating Sequential Processes" (1978); the lines of waiting calls
//   as in W. Scherer, D. Lea, M. Scott, "Scalable Synchronous Queues" (2006), here under a lock.
// Why a type: docs/adr/0040-a-rendezvous.md. Proof: docs/design/channel.md.
#pragma once

#include <concepts>
#include <exception>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/detail/pop_iterator.hpp>
#include <handoff/queue/detail/rendezvous.hpp>
#include <handoff/queue/internal/ring_item.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class RendezvousChannel {
  static_assert(std::is_object_v<T> && std::is_nothrow_move_constructible_v<T>,
                "a channel holds values that move without throwing: mark the move constructor "
                "noexcept, or hold a std::unique_ptr");

 public:
  using value_type = T;
  // Holds the item that was popped last.
  using Iterator = detail::PopIterator<RendezvousChannel>;

  RendezvousChannel() noexcept = default;
  RendezvousChannel(const RendezvousChannel&) = delete;
  RendezvousChannel& operator=(const RendezvousChannel&) = delete;

  // --- Push. ---

  // ok; full: no pop waits; or closed.
  Status try_push(T&& item) { return offer(nullptr, std::move(item)); }
  template <detail::ConvertsToItem<T> From>
  Status try_push(From&& item) {
    return offer(nullptr, std::forward<From>(item));
  }
  Status try_push(const T& item)
    requires std::copy_constructible<T>
  {
    return offer(nullptr, T(item));
  }
  template <class... Args>
  Status try_emplace(Args&&... args) {
    return offer(nullptr, std::forward<Args>(args)...);
  }

  // Waits until a pop takes the item. ok, closed, timed_out or stopped.
  Status push(T&& item, const Until& until = {}) { return offer(&until, std::move(item)); }
  Status push(const T& item, const Until& until = {})
    requires std::copy_constructible<T>
  {
    return offer(&until, T(item));
  }
  template <detail::ConvertsToItem<T> From>
  Status push(From&& item, const Until& until = {}) {
    return offer(&until, std::forward<From>(item));
  }
  // The same, with the item made of `args` where the pop wants it. A limit comes first.
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  Status emplace(Args&&... args) {
    const Until for_ever;
    return offer(&for_ever, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  Status emplace(const Until& until, Args&&... args) {
    return offer(&until, std::forward<Args>(args)...);
  }

  // No push or pop that begins after this succeeds. Wakes all waiting threads.
  void close() noexcept { meeting_.close(); }
  bool closed() const noexcept { return meeting_.closed(); }

  // --- Pop. ---

  // ok; empty: no push waits; or closed.
  Status try_pop(T& out) { return take_to(out, nullptr); }
  // The same for items that have no empty state to begin with; nothing where that says not ok.
  [[nodiscard]] std::optional<T> try_pop() {
    std::optional<T> item;
    (void)take(item, nullptr);
    return item;
  }

  // Waits for a push. ok, closed, timed_out or stopped.
  Status pop(T& out, const Until& until = {}) { return take_to(out, &until); }
  // The same for items that have no empty state to begin with; nothing where that says not ok.
  [[nodiscard]] std::optional<T> pop(const Until& until = {}) {
    std::optional<T> item;
    (void)take(item, &until);
    return item;
  }

  // Range-for: pops, and ends when the channel is closed.
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  template <class>
  friend struct detail::Books;
  template <class Source, class Handler>
  friend class SelectCase;

  // Without an Until it does not wait.
  template <class... Args>
  Status offer(const Until* until, Args&&... args) {
    std::exception_ptr thrown;
    auto make = [&](std::optional<T>& place) noexcept {
      return detail::attempt([&] { place.emplace(std::forward<Args>(args)...); },
                             [&] { thrown = std::current_exception(); });
    };
    detail::Rendezvous::Party push(&make, [](void* its_make, void* place) noexcept {
      return (*static_cast<decltype(make)*>(its_make))(*static_cast<std::optional<T>*>(place));
    });
    const Status status = meet(push, until);
    if (thrown != nullptr) std::rethrow_exception(std::move(thrown));
    return status;
  }
  Status take(std::optional<T>& place, const Until* until) {
    detail::Rendezvous::Party pop(&place);
    return meet(pop, until);
  }
  // What is replaced may use the channel when it ends.
  Status take_to(T& out, const Until* until) {
    std::optional<T> item;
    const Status status = take(item, until);
    if (status == Status::ok) out = *std::move(item);
    return status;
  }
  Status meet(detail::Rendezvous::Party& party, const Until* until) {
    return until == nullptr ? meeting_.try_meet(party) : meeting_.meet(party, *until);
  }

  // --- For a select. ---

  Status look(std::optional<T>& item) noexcept { return take(item, nullptr); }
  void pass_items_on() noexcept { meeting_.pass_on(); }
  detail::SelectList& selects() noexcept { return meeting_.selects(); }

  detail::Rendezvous meeting_;
};

static_assert(Transfer<RendezvousChannel<int>>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
