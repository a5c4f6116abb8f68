// SPDX-License-Identifier: MIT
//
// A consumer of a broadcast, which Broadcast::consumer() gives; broadcast.hpp says what both are
// for and includes this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <handoff/bus/broadcast.hpp>  // NOLINT(misc-header-include-cycle): one needs the other
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/bus/detail/call_with.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/draining.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

template <class Visitor, class T>
concept BroadcastVisitor = CalledWith<Visitor, const T> || CalledWith<Visitor, T>;

}  // namespace detail

// One that follows the broadcast. It leaves at its end. The broadcast must outlive it. One that has
// left, or was moved from, follows nothing: it finds no messages and says that it is closed.
template <class T, class Policies>
class Broadcast<T, Policies>::Consumer : public detail::BroadcastMember {
 public:
  // Follows nothing.
  Consumer() noexcept = default;
  Consumer(Consumer&& other) noexcept { take(other); }
  Consumer& operator=(Consumer&& other) noexcept {
    if (this != &other) {
      leave();
      take(other);
    }
    return *this;
  }
  ~Consumer() { leave(); }

  // Sees no more; its places are free. Idempotent. Inside a visitor of its own, where it may also
  // be moved or ended, the message is the call's last one, and stays until the visitor returns.
  void leave() noexcept {
    if (reader_ == nullptr) return;
    if (std::exchange(reader_->visited_by, nullptr) == nullptr) end(*broadcast_, *reader_);
    forget();
  }

  // Calls visitor(message), visitor(message, sequence) or visitor(message, sequence, end_of_batch)
  // for each message that is there now, in order, in its place; returns how many, at most `most`.
  // `message` is a const T&, or a T& for a visitor that takes nothing else: a visitor that writes
  // there is ordered with others by `after` alone. `sequence` counts messages from 0, and claims
  // that were dropped; `end_of_batch` says that it is the last of this call. Under
  // OnFull::overwrite_oldest the visitor gets a copy, and a call may end without that word: what it
  // was to be said of was lost meanwhile. There the visitor may consume by this one, else it is
  // misuse.
  template <detail::BroadcastVisitor<T> Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (reader_ == nullptr) return 0;
    if constexpr (kLossy) {
      return consume_copies(visitor, most);
    } else {
      return consume_in_place(visitor, most);
    }
  }

  // Waits while there is nothing: ok if there is something now, if only a claim that was dropped;
  // else closed (and drained), timed_out or stopped.
  Status wait(const Until& until = {}) {
    if (reader_ == nullptr) return Status::closed;
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
  Status wait_and_consume(Visitor&& visitor, const Until& until = {}) {
    for (;;) {
      const Status status = wait(until);
      if (status != Status::ok) return status;
      if (consume(visitor) != 0) return Status::ok;
    }
  }

  // Whether the broadcast is closed and this consumer has seen all of it.
  [[nodiscard]] bool closed() const noexcept {
    return reader_ == nullptr || broadcast_->tail() == (reader_->next | kClosed);
  }

  // How many messages it lost up to the one that it visits or visited last, dropped claims
  // included; 0 once it has left. By its own thread.
  [[nodiscard]] std::uint64_t lost() const noexcept
    requires kLossy
  {
    return reader_ == nullptr ? 0 : reader_->lost;
  }

  // How many messages it has not consumed yet, claimed ones included. By its own thread.
  [[nodiscard]] std::size_t behind() const noexcept {
    if (reader_ == nullptr) return 0;
    const std::int64_t behind = detail::messages_between(position(), ticket_of(broadcast_->tail()));
    return static_cast<std::size_t>(detail::max<std::int64_t>(behind, 0));
  }

 private:
  friend class Broadcast;
  Consumer(Broadcast& broadcast, detail::BroadcastReader& reader) noexcept
      : BroadcastMember(&broadcast.readers_, &reader), broadcast_(&broadcast) {}

  static void end(Broadcast& broadcast, detail::BroadcastReader& reader) noexcept {
    sync::given(&reader);
    broadcast.readers_.leave(reader);
    // equivalent(swap): two kinds of sleepers that do not know each other
    broadcast.producers_.tell();
    broadcast.consumers_.tell();
  }

  void take(Consumer& other) noexcept {
    BroadcastMember::operator=(other);
    broadcast_ = other.broadcast_;
    if (reader_ != nullptr && reader_->visited_by != nullptr) reader_->visited_by = this;
    other.forget();
  }

  void forget() noexcept {
    // equivalent(delete): nobody asks for the list of a consumer without a record
    readers_ = nullptr;
    reader_ = nullptr;
    // equivalent(delete): nobody asks for the broadcast of a consumer without a record
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
      // equivalent(bound) all: 0 becomes 0; one look more at the tail
      return count <= 0 ? 0 : detail::min(static_cast<std::size_t>(count), most);
    };
    if (reader_->before_count == 0 && !kMany) {  // the usual one: a look a batch
      if (within(reader_->seen) < most) reader_->seen = ticket_of(broadcast_->tail());
      return within(reader_->seen);
    }
    Ticket limit = 0;
    if (detail::BroadcastReaders::bound(*reader_, limit)) {
      sync::taken(readers_);
      return within(limit);
    }
    if constexpr (kMany) {
      const Places places = broadcast_->places_;
      return places.done_from(first, most);
    } else {
      return within(ticket_of(broadcast_->tail()));
    }
  }

  // Behind `most` messages from `first` on, or behind all that is there.
  Ticket end_of(const Places& places, Ticket first, std::size_t most) noexcept {
    if constexpr (!kMany) return first + kStep * ready(first, most);
    Ticket end = first;
    for (std::size_t asked = 0, found = 0; most != 0 && found == asked;) {
      asked = detail::min(most, places.capacity());
      found = ready(end, asked);
      for (std::size_t i = 0; i < found; ++i, end += kStep) {
        if (!is_dropped(places, end)) --most;
      }
    }
    return end;
  }

  static bool is_dropped(const Places& places, Ticket ticket) noexcept {
    if constexpr (kMany) return places.is_dropped(ticket);
    (void)places;
    (void)ticket;
    return false;
  }

  // How far a call has come; told at its end, also if a visitor throws. The visitor may have moved
  // or ended the consumer, so all is done without it.
  class Progress {
   public:
    Progress(Consumer& consumer, Ticket first) noexcept
        : broadcast_(*consumer.broadcast_),
          reader_(*consumer.reader_),
          stride_(broadcast_.stride_),
          told_(first),
          next(first) {}
    // In line, so that the loop keeps its place in a register.
    [[gnu::always_inline]] ~Progress() {
      reader_.next = next;
      if (next != told_) tell();
      if (std::exchange(reader_.visited_by, nullptr) == nullptr) end(broadcast_, reader_);
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    [[gnu::always_inline]] void tell_in_strides() noexcept {
      if (next - told_ < stride_) return;
      // equivalent(swap): a member of the call alone
      // equivalent(delete): only speed: it tells more often than it must
      told_ = next;
      tell();
    }

   private:
    // To producers and followers: it has come to `next`.
    [[gnu::always_inline]] void tell() const noexcept {
      sync::given(&broadcast_.readers_);
      // order: release pairs with the acquires in the walks and in bound(): what lies before it has
      // been visited.
      reader_.position.store(next, sync::order::release);
      broadcast_.producers_.tell();
      // order: relaxed, ordered by the light fence in tell(); partner is a follower's heavy fence.
      if (reader_.followers.load(sync::order::relaxed) != 0) broadcast_.consumers_.tell();
    }

    Broadcast& broadcast_;
    detail::BroadcastReader& reader_;
    const Ticket stride_;
    Ticket told_;

   public:
    Ticket next;
  };

  template <class Visitor>
  std::size_t consume_in_place(Visitor& visitor, std::size_t most) {
    if (reader_->visited_by != nullptr)
      misuse("a consumer of a broadcast was used to consume inside its own visitor");
    const Places places = broadcast_->places_;
    const Ticket first = reader_->next;
    const Ticket last = end_of(places, first, most);
    if (last == first) return 0;
    Ticket end = last;  // behind the last that was not dropped
    while (end != first && is_dropped(places, end - kStep)) end -= kStep;
    std::size_t visited = 0;
    const detail::Draining draining(broadcast_);
    detail::BroadcastReader& reader = *reader_;
    reader.visited_by = this;
    Progress progress(*this, first);
    for (Ticket ticket = first; ticket != end; ticket += kStep) {
      progress.next = ticket + kStep;
      if (is_dropped(places, ticket)) continue;
      ++visited;
      const bool end_of_batch = progress.next == end;
      if constexpr (detail::CalledWith<Visitor, const T>) {
        detail::call_with(visitor, ticket / kStep, end_of_batch, places.read(ticket));
      } else {
        detail::call_with(visitor, ticket / kStep, end_of_batch, places.message(ticket));
      }
      if (reader.visited_by != this) [[unlikely]]
        return visited;
      progress.tell_in_strides();
    }
    progress.next = last;
    return visited;
  }

  // --- Where the oldest is lost: copies. ---

  // Takes note of how far producers have moved it up.
  Ticket caught_up() noexcept {
    // order: relaxed, code that relies on it exchanges it.
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
      sync::given(readers);
      // order: release pairs with the acquires in slowest_moved_up(): the copy is made.
      reader.position.store(reader.next, sync::order::release);
    }
    detail::BroadcastReader& reader;
    const void* readers;
  };

  T copy_of(Ticket ticket) {
    const Unmark unmark{*reader_, readers_};
    return T(broadcast_->places_.read(ticket));
  }

  // Whether there is a message that was not dropped; of the moment.
  bool has_more() const noexcept {
    const Places places = broadcast_->places_;
    Ticket ticket = position();
    const Ticket end = ticket + places.lap();
    while (ticket != end && is_published(ticket) && is_dropped(places, ticket)) ticket += kStep;
    return ticket != end && is_published(ticket);
  }

  // A call under way; there may be one in the visitor of another, which then ends what has left.
  struct Visit {
    ~Visit() {
      if (!is_inner && std::exchange(reader.visited_by, nullptr) == nullptr) end(broadcast, reader);
    }
    Broadcast& broadcast;
    detail::BroadcastReader& reader;
    const bool is_inner = reader.visited_by != nullptr;
  };

  template <class Visitor>
  std::size_t consume_copies(Visitor& visitor, std::size_t most) {
    const std::size_t limit = detail::min(most, broadcast_->capacity());
    std::size_t visited = 0;
    detail::BroadcastReader& reader = *reader_;
    const Visit visit{*broadcast_, reader};
    reader.visited_by = this;
    while (visited < limit) {
      const Ticket ticket = caught_up();
      if (!is_published(ticket)) break;
      if (!mark(ticket)) continue;
      if (is_dropped(broadcast_->places_, ticket)) {
        const Unmark unmark{*reader_, readers_};
        continue;
      }
      T message = copy_of(ticket);
      ++visited;
      const bool end_of_batch = visited == limit || !has_more();
      detail::call_with(visitor, ticket / kStep, end_of_batch, message);
      if (end_of_batch || reader.visited_by != this) break;
    }
    return visited;
  }

  Broadcast* broadcast_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
