// SPDX-License-Identifier: MIT
//
// A consumer of a broadcast, which Broadcast::consumer() gives; broadcast.hpp says what both are
// for and includes this.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/config.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/detail/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// What a consumer calls: with the message, its number and whether it is the last of this call; or
// with fewer of these, from the end.
template <class Visitor, class Message>
concept CalledWith =
    std::invocable<Visitor&, Message&, std::uint64_t, bool> ||
    std::invocable<Visitor&, Message&, std::uint64_t> || std::invocable<Visitor&, Message&>;

template <class Visitor, class Message>
void call_with(Visitor& visitor, Message& message, std::uint64_t sequence, bool end_of_batch) {
  if constexpr (std::invocable<Visitor&, Message&, std::uint64_t, bool>) {
    visitor(message, sequence, end_of_batch);
  } else if constexpr (std::invocable<Visitor&, Message&, std::uint64_t>) {
    visitor(message, sequence);
  } else {
    visitor(message);
  }
}

template <class Visitor, class T>
concept BroadcastVisitor = CalledWith<Visitor, const T> || CalledWith<Visitor, T>;

}  // namespace detail

// One that follows the broadcast. It leaves at its end. The broadcast must outlive it.
template <class T, class Policies>
class Broadcast<T, Policies>::Consumer : public detail::BroadcastMember {
 public:
  // Follows nothing.
  Consumer() noexcept = default;
  Consumer(Consumer&& other) noexcept : BroadcastMember(other), broadcast_(other.broadcast_) {
    other.forget();
  }
  Consumer& operator=(Consumer&& other) noexcept {
    if (this != &other) {
      leave();
      BroadcastMember::operator=(other);
      broadcast_ = other.broadcast_;
      other.forget();
    }
    return *this;
  }
  ~Consumer() { leave(); }

  // Sees no more; its places are free. Idempotent. Not inside a visitor of its own.
  void leave() noexcept {
    if (reader_ == nullptr) return;
    readers_->leave(*reader_);
    broadcast_->producers_.tell();
    broadcast_->consumers_.tell();
    forget();
  }

  // Calls visitor(message), visitor(message, sequence) or visitor(message, sequence, end_of_batch)
  // for each message that is there now, in order, in its place; returns how many. At most `most`.
  // `message` is a const T&, or a T& for a visitor that takes nothing else: whoever writes there is
  // ordered with others by `after` alone. `sequence` counts messages from 0, and claims that were
  // dropped; `end_of_batch` says that it is the last of this call. Under
  // OnFull::overwrite_oldest the visitor gets a copy. The visitor must not consume by this one.
  template <detail::BroadcastVisitor<T> Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if constexpr (kLossy) {
      return consume_copies(visitor, most);
    } else {
      return consume_in_place(visitor, most);
    }
  }

  // Waits while there is nothing: ok if there is something now, else closed (and drained),
  // timed_out or stopped.
  Status wait(const Until& until = {}) {
    Status status = Status::ok;
    const Status waited = broadcast_->consumers_.wait(
        [&] {
          if (is_something()) return true;
          if (!closed()) return false;
          status = Status::closed;
          return true;
        },
        reader_->spin_for, until);
    return waited == Status::ok ? status : waited;
  }

  // Waits, then consumes: ok if at least one was visited.
  template <detail::BroadcastVisitor<T> Visitor>
  Status wait_and_consume(Visitor&& visitor, const Until& until = {},
                          std::size_t most = std::numeric_limits<std::size_t>::max()) {
    for (;;) {
      const Status status = wait(until);
      if (status != Status::ok || most == 0) return status;
      if (consume(visitor, most) != 0) return Status::ok;
    }
  }

  // Whether the broadcast is closed and this consumer has seen all of it.
  [[nodiscard]] bool closed() const noexcept {
    return broadcast_->tail() == (reader_->next | kClosed);
  }

  // How many messages it lost up to the one that it visits or visited last, dropped claims
  // included. By its own thread.
  [[nodiscard]] std::uint64_t lost() const noexcept
    requires kLossy
  {
    return reader_->lost;
  }

  // How many messages it has not consumed yet, claimed ones included. By its own thread.
  [[nodiscard]] std::size_t was_behind() const noexcept {
    const std::int64_t behind = detail::messages_between(position(), ticket_of(broadcast_->tail()));
    return static_cast<std::size_t>(detail::max<std::int64_t>(behind, 0));
  }

 private:
  friend class Broadcast;
  Consumer(Broadcast& broadcast, detail::BroadcastReader& reader) noexcept
      : BroadcastMember(&broadcast.readers_, &reader), broadcast_(&broadcast) {}

  void forget() noexcept {
    readers_ = nullptr;
    reader_ = nullptr;
    broadcast_ = nullptr;
  }

  // The next ticket. One that may lose messages is moved up by producers.
  Ticket position() const noexcept {
    if constexpr (kLossy) {
      // order: relaxed, only this consumer marks it busy; that is cleared again by now.
      return reader_->position.load(sync::order::relaxed);
    } else {
      return reader_->next;
    }
  }

  bool is_something() noexcept {
    if constexpr (!kLossy) {
      return ready(reader_->next, 1) != 0;
    } else {
      return is_published(caught_up());
    }
  }

  bool is_published(Ticket ticket) const noexcept {
    if constexpr (kMany) {
      return broadcast_->places_.distance(ticket) >= 0;
    } else {
      // One that was moved up may be ahead of the tail that it sees.
      return detail::messages_between(ticket, ticket_of(broadcast_->tail())) > 0;
    }
  }

  // --- Where nothing is lost: in place. ---

  // How many tickets from `first` on this consumer may visit, `most` at most.
  std::size_t ready(Ticket first, std::size_t most) noexcept {
    const auto within = [&](Ticket limit) {
      const std::int64_t count = detail::messages_between(first, limit);
      return count <= 0 ? 0 : detail::min(static_cast<std::size_t>(count), most);
    };
    if (reader_->before_count == 0 && !kMany) {  // the usual one: a look a batch
      if (within(reader_->seen) < most) reader_->seen = ticket_of(broadcast_->tail());
      return within(reader_->seen);
    }
    Ticket limit = 0;
    if (detail::BroadcastReaders::bound(*reader_, limit)) return within(limit);
    if constexpr (kMany) {
      const std::size_t all = detail::min(most, broadcast_->capacity());
      std::size_t count = 0;
      while (count < all && broadcast_->places_.distance(first + kStep * count) == 0) ++count;
      return count;
    } else {
      return within(ticket_of(broadcast_->tail()));
    }
  }

  bool is_dropped(Ticket ticket) const noexcept {
    if constexpr (kMany) return broadcast_->places_.is_dropped(ticket);
    (void)ticket;
    return false;
  }

  // Tells producers and followers where the consumer is; also when a visitor throws.
  class Progress {
   public:
    Progress(Consumer& consumer, Ticket first) noexcept
        : consumer_(consumer), told_(first), next(first) {}
    ~Progress() {
      consumer_.reader_->next = next;
      if (next != told_) tell();
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void tell_in_strides() noexcept {
      if (next - told_ >= consumer_.broadcast_->stride_) tell();
    }

   private:
    void tell() noexcept {
      told_ = next;
      detail::BroadcastReader& reader = *consumer_.reader_;
      // order: release pairs with the acquires in the walks and in bound(): what lies before it has
      // been visited.
      reader.position.store(next, sync::order::release);
      consumer_.broadcast_->producers_.tell();
      // order: relaxed, ordered by the light fence in tell(); partner is a follower's heavy fence.
      if (reader.followers.load(sync::order::relaxed) != 0) consumer_.broadcast_->consumers_.tell();
    }

    Consumer& consumer_;
    Ticket told_;

   public:
    Ticket next;
  };

  template <class Visitor>
  std::size_t consume_in_place(Visitor& visitor, std::size_t most) {
    const Ticket first = reader_->next;
    const Ticket last = first + kStep * ready(first, most);
    Ticket end = last;  // behind the last that was not dropped
    while (end != first && is_dropped(end - kStep)) end -= kStep;
    std::size_t visited = 0;
    Progress progress(*this, first);
    for (Ticket ticket = first; ticket != end; ticket += kStep) {
      progress.next = ticket + kStep;
      if (is_dropped(ticket)) continue;
      ++visited;
      visit_in_place(visitor, ticket, progress.next == end);
      progress.tell_in_strides();
    }
    progress.next = last;
    return visited;
  }

  template <class Visitor>
  void visit_in_place(Visitor& visitor, Ticket ticket, bool end_of_batch) {
    if constexpr (detail::CalledWith<Visitor, const T>) {
      detail::call_with(visitor, broadcast_->places_.read(ticket), ticket / kStep, end_of_batch);
    } else {
      detail::call_with(visitor, broadcast_->places_.message(ticket), ticket / kStep, end_of_batch);
    }
  }

  // --- Where the oldest is lost: copies. ---

  // Takes note of how far producers have moved it up.
  Ticket caught_up() noexcept {
    // order: relaxed, who relies on it exchanges it.
    const Ticket here = reader_->position.load(sync::order::relaxed);
    reader_->lost += static_cast<std::uint64_t>(detail::messages_between(reader_->next, here));
    reader_->next = here;
    return here;
  }

  // Puts the mark on its position that keeps producers off, unless they have moved it up.
  bool mark(Ticket ticket) noexcept {
    // order: relaxed. Producers that came before this exchange have made it fail, others wait for
    // the store in Unmark.
    return reader_->position.compare_exchange_strong(ticket,
                                                     ticket | detail::BroadcastReader::kBusy,
                                                     sync::order::relaxed, sync::order::relaxed);
  }

  // The marked message is consumed, at the end of the scope.
  struct Unmark {
    ~Unmark() {
      reader.next += kStep;
      // order: release pairs with the acquires in slowest_moved_up(): the copy is made.
      reader.position.store(reader.next, sync::order::release);
    }
    detail::BroadcastReader& reader;
  };

  T copy_of(Ticket ticket) {
    const Unmark unmark{*reader_};
    return T(broadcast_->places_.read(ticket));
  }

  // Whether a message is there that was not dropped; of the moment.
  bool has_more() const noexcept {
    Ticket ticket = position();
    const Ticket end = ticket + broadcast_->places_.lap();
    while (ticket != end && is_published(ticket) && is_dropped(ticket)) ticket += kStep;
    return ticket != end && is_published(ticket);
  }

  template <class Visitor>
  std::size_t consume_copies(Visitor& visitor, std::size_t most) {
    const std::size_t limit = detail::min(most, broadcast_->capacity());
    std::size_t visited = 0;
    while (visited < limit) {
      const Ticket ticket = caught_up();
      if (!is_published(ticket)) break;
      if (!mark(ticket)) continue;
      if (is_dropped(ticket)) {
        const Unmark unmark{*reader_};
        continue;
      }
      T message = copy_of(ticket);
      ++visited;
      const bool end_of_batch = visited == limit || !has_more();
      detail::call_with(visitor, message, ticket / kStep, end_of_batch);
    }
    return visited;
  }

  Broadcast* broadcast_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI
