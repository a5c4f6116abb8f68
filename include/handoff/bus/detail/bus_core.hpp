// SPDX-License-Identifier: MIT
//
// What all calls of a bus go through: rings, claims, hand-outs, close and books. Not for users.
//
// Ring 0 is shared by all producers; those behind it belong to one producer each. By priority all
// producers share all rings, one for each class, the most urgent first.
// Concurrency: as the members of message_bus.hpp that call them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/bus_policies.hpp>
#include <handoff/bus/detail/bus_consumer.hpp>
#include <handoff/bus/detail/bus_memory.hpp>
#include <handoff/bus/detail/bus_order.hpp>
#include <handoff/bus/detail/message_ring.hpp>
#include <handoff/bus/detail/message_slot.hpp>
#include <handoff/bus/detail/message_types.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/bus/message_meta.hpp>
#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/relaxed.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Policies, class... Messages>
class BusCore {
 public:
  using Admission = handoff::Admission;  // not that of pools
  static constexpr bool kLanes = Policies::order == MessageOrder::per_producer;
  static constexpr bool kClassRings = kByPriority<Policies>;
  using Order = BusOrder<Policies::order>;
  using Class = typename Order::Class;
  using Slot = MessageSlot<Policies, Messages...>;
  using Types = MessageTypes<Messages...>;
  using Meta = MessageMeta<Policies>;
  using Carried = CarriedMeta<Policies>;
  using Options = typename Order::Options;
  using Ring = MessageRing<Slot>;
  using Ticket = typename Ring::Ticket;
  using Claim = typename Ring::Claim;

  // The ring that a producer publishes to, and whether it has it for itself.
  struct Port {
    Ring* ring;
    bool alone;
  };

  static std::size_t bytes_needed(const Options& options) {
    return layout_for(options).bytes + Layout::kAlignment - 1;
  }

  // `lent`: the memory that it is to lie in, if there is any.
  template <class... Lent>
  explicit BusCore(const Options& options, std::uint64_t start = 0, Lent... lent)
      : layout_(layout_for(options)),
        limits_(limits_for(layout_.places, reserve_of(options))),
        spin_for_(options.spin_for),
        memory_(layout_.bytes, Layout::kAlignment, lent...),
        waits_(waits_when_full(options.on_full)),
        turns_(options) {
    make_rings(start);
  }
  ~BusCore() {
    // equivalent(swap) all: a request that is destroyed ends cancelled; nothing is given back
    how_ = Closing::abandon;  // equivalent(delete): a request that is destroyed ends cancelled
    limited_ = true;          // equivalent(delete): a request that is destroyed ends cancelled
    (void)take([](auto&, const auto&) {}, ~std::size_t{0});
    std::destroy_n(lanes_taken_, layout_.rings);  // equivalent(delete): nothing to give back
    std::destroy_n(rings_, layout_.rings);        // equivalent(delete): nothing to give back
  }

  // --- Producers. ---

  Port shared_port() const noexcept { return {&rings_[0], false}; }

  // The one of its class, where there is one for each.
  template <class Given>
  Port port_for(const Port& port, const Given& given) const noexcept {
    if constexpr (kClassRings) return {&rings_[index_of(given.priority)], false};
    return port;
  }
  // Each class has all places of its ring.
  template <class Given>
  static Admission admission_of(const Given& given) noexcept {
    if constexpr (kClassRings) return Admission::urgent;
    else return given.admission;
  }

  // A lane that nobody has, or the shared ring.
  Port take_lane() noexcept {
    if constexpr (!kLanes) return shared_port();
    for (std::size_t i = 1; i < layout_.rings; ++i) {
      // order: acquire pairs with the release in give_lane(): what its producer before did.
      if (lanes_taken_[i - 1].exchange(true, sync::order::acquire)) continue;
      raise_rings_used(i + 1);
      return {&rings_[i], true};
    }
    return shared_port();
  }
  void give_lane(const Port& port) noexcept {
    if (!port.alone) return;
    // order: release pairs with the acquire in take_lane().
    lanes_taken_[static_cast<std::size_t>(port.ring - rings_) - 1].store(false,
                                                                         sync::order::release);
  }

  // Places for messages, at least one unless it says why not. `until`: null where it never waits.
  Claim claim(const Port& port, std::size_t most, Admission admission, const Until* until) {
    const Claim got = try_claim(port, most, admission);
    if (got.count != 0) [[likely]]
      return got;
    return claim_slowly(port, most, admission, until, got);
  }

  // Makes the message in a place that was claimed; if that throws, the place is skipped.
  template <class T, class... Args>
  T& fill(const Port& port, Ticket ticket, typename Slot::template Box<T>& box,
          const Carried& carried, Args&&... args) {
    Slot& slot = port.ring->slot(ticket);
    if constexpr (!std::is_empty_v<Carried>) slot.carried = carried;
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      return slot.template construct<T>(box, std::forward<Args>(args)...);
    } else {
      T* made = nullptr;
      call_or([&] { made = &slot.template construct<T>(box, std::forward<Args>(args)...); },
              [&] { skip(port, ticket); });
      return *made;
    }
  }
  template <class T>
  void publish(const Port& port, Ticket ticket) noexcept {
    probe::hand_over(probe::Kind::message, &port.ring->slot(ticket));
    port.ring->publish(ticket, Ring::mark_of(Types::template index<T>()));
  }
  void skip(const Port& port, Ticket ticket) noexcept {
    port.ring->skip(ticket);
    announce();
  }
  // After something was published.
  void announce() noexcept { arrivals_.tell(); }

  // What a message carries besides.
  template <class Given>
  static Carried carried(const Given& given) noexcept {
    Carried carried;
    if constexpr (Policies::senders) carried.sender = given.sender;
    if constexpr (Policies::topics) carried.topic = given.topic;
    if constexpr (Policies::times) carried.time = sync::clock::now();
    return carried;
  }

  // Which message of the bus it is.
  std::uint64_t id_of(const Ring& ring, Ticket ticket) const noexcept {
    if constexpr (!kLanes && !kClassRings) {
      return ticket / 2;
    } else {
      return ticket / 2 * layout_.rings + ring_index(ring);
    }
  }

  // --- The consumer. ---

  // What each() of take() may ask about its message.
  class Look {
   public:
    Meta meta() const noexcept {
      Meta meta;
      // equivalent(swap) all: two members of one answer
      static_cast<Carried&>(meta) = ring.slot(ticket).carried;
      meta.id = core.id_of(ring, ticket);
      meta.sequence = core.sequence_ - 1;
      meta.end_of_batch = is_last || core.nothing_from(ring, ticket + 2);
      return meta;
    }

    BusCore& core;
    Ring& ring;
    const Ticket ticket;
    const bool is_last;  // that this call takes from the ring
  };

  // Calls each(message, look) for what is there, `most` messages at most and no more than there
  // are places; returns how many. What nobody is handed (dropped claims, lapsed requests) is none
  // of them. What each() throws ends the call; its message counts as failed.
  template <class Each>
  std::size_t take(Each&& each, std::size_t most) {
    const BusTaker::Taking taking(taker_);
    if constexpr (kClassRings) return take_by_priority(most, each);
    std::size_t count = 0;
    const std::size_t rings = rings_used();
    std::size_t at = next_ring_ < rings ? next_ring_ : 0;  // equivalent(bound): it begins anew
    for (std::size_t i = 0; i < rings && count < most; ++i) {
      const std::size_t now = at;
      at = at + 1 < rings ? at + 1 : 0;
      if constexpr (kLanes) next_ring_ = at;
      count += take_from(rings_[now], most - count, each);
    }
    return count;
  }

  // Calls replay(), which hands out messages that never lay in a place. To handlers it is a drain:
  // they may do the same, and do not wait for room either.
  template <class Replay>
  std::size_t take_elsewhere(Replay&& replay) {
    const BusTaker::Taking taking(taker_);
    return replay();
  }

  // ok, closed (and drained), timed_out or stopped.
  Status wait(const Until& until) {
    if (is_taking()) misuse("a message bus was waited for inside one of its handlers");
    bool found = false;
    const auto ready = [&] { return (found = any()) || is_over(); };
    const Status waited = arrivals_.wait(ready, spin_for_, until);
    if (waited != Status::ok) return waited;
    return found ? Status::ok : Status::closed;
  }

  // Whether a message is there. Steps over claims that were dropped.
  bool any() noexcept {
    const std::size_t rings = rings_used();
    for (std::size_t i = 0; i < rings; ++i) {
      Ring& ring = rings_[i];
      for (Ticket head = ring.head();; head += 2) {
        const auto mark = ring.mark_at(head);
        if (mark == Ring::kNothing) break;
        if (mark != Ring::kSkipped) return true;
        step_over(ring, head);
      }
    }
    return false;
  }

  // --- The close and the books. ---

  void shut() noexcept {
    close_shared();
    if constexpr (kLanes) {
      for (std::size_t i = 1; i < layout_.rings; ++i) rings_[i].close_alone();
      sync::asymmetric_fence_heavy();  // partner is the light half in claim_alone()
    }
    // order: release pairs with the acquire in closed(): what came before, and the tails, which
    // are the last ones but for claims that are taken back.
    closed_.store(true, sync::order::release);
    arrivals_.tell();
    if (!waits_) return;
    for (std::size_t i = 0; i < layout_.rings; ++i) {
      for (sync::EventCount& events : rings_[i].waiters.events) events.notify_all();
    }
  }
  bool closed() const noexcept {
    return closed_.load(sync::order::acquire);  // order: acquire pairs with the release in shut()
  }

  // By the consumer. What is taken from here on is handed out as `how` says; ends(): not at all.
  void end_as(const Closing& how) noexcept {
    how_ = how;
    limited_ = !how.begins_more || how.deadline != sync::no_deadline;
  }
  bool ends(auto& message) noexcept { return limited_ && drops(message, why_dropped()); }
  // By the consumer: whether it is closed, and all that was accepted has its outcome. For good: the
  // tails have their last values, but for claims that are taken back.
  bool is_over() noexcept {
    if (!closed()) return false;
    for (std::size_t i = 0; i < layout_.rings; ++i) {
      if (!rings_[i].drained()) return false;
    }
    over_.set(true);
    return true;
  }
  void await_something() {
    const auto ready = [this] { return any() || is_over(); };
    (void)arrivals_.wait(ready, std::chrono::nanoseconds(-1), {}, "wait");
  }
  // Whether this thread, or another one, is in take().
  bool is_taking() const noexcept { return taker_.is_taking(); }
  bool is_taking_here() const noexcept { return taker_.is_taking_here(); }

  Tally tally() const noexcept {
    return figures_.tally(over_.get(), [this]() noexcept {
      BusFigures::Rings rings;
      for (std::size_t i = 0; i < layout_.rings; ++i) {
        rings.passed += rings_[i].passed();
        rings.dropped += rings_[i].dropped();
        rings.claimed += rings_[i].claimed();
      }
      return rings;
    });
  }

  std::size_t depth() const noexcept {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < layout_.rings; ++i) depth += rings_[i].depth();
    return depth;
  }
  std::size_t capacity() const noexcept { return layout_.places; }
  Pressure pressure() const noexcept {
    if (!every_ring_has_room(Admission::urgent)) return Pressure::urgent;
    if (!every_ring_has_room(Admission::normal)) return Pressure::normal;
    return every_ring_has_room(Admission::low) ? Pressure::none : Pressure::low;
  }
  std::uint64_t refused(Class of) const noexcept { return refused_[index_of(of)].get(); }
  std::uint64_t refused() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& of : refused_) sum += of.get();
    return sum;
  }

 private:
  template <class>
  friend struct Books;

  using Layout = BusLayout<Slot, Ring>;
  static Layout layout_for(const Options& options) {
    return Layout(options.capacity, Order::rings(options));
  }
  static Reserve reserve_of(const Options& options) noexcept {
    if constexpr (kClassRings) return {};
    else return options.reserve;
  }

  // A message while it is handed out: gone afterwards, also by an exception.
  template <class T>
  class Taken {
   public:
    Taken(Ring& ring, Ticket ticket) noexcept : ring_(ring), ticket_(ticket) {}
    ~Taken() {
      ring_.slot(ticket_).template destroy<T>();
      ring_.give_back(ticket_ + 2);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    Ring& ring_;
    const Ticket ticket_;
  };

  void make_rings(std::uint64_t start) noexcept {
    sync::spin_policy();  // its first call in a process allocates
    std::byte* const begin = memory_.begin();
    rings_ = reinterpret_cast<Ring*>(begin + layout_.rings_at);
    lanes_taken_ = reinterpret_cast<sync::atomic<bool>*>(rings_ + layout_.rings);
    for (std::size_t i = 0; i < layout_.rings; ++i) {
      // equivalent(swap): a ring and its flag do not know each other
      std::construct_at(&rings_[i], begin + i * layout_.ring_bytes, layout_.places, limits_, waits_,
                        start);
      std::construct_at(&lanes_taken_[i], false);
    }
  }

  bool every_ring_has_room(Admission admission) const noexcept {
    for (std::size_t i = 0; i < layout_.rings; ++i) {
      if (!rings_[i].has_room(admission)) return false;
    }
    return true;
  }

  std::size_t rings_used() const noexcept {
    if constexpr (!kLanes) return Order::rings({});
    return rings_used_.get();
  }
  void raise_rings_used(std::size_t rings) noexcept {
    std::size_t used = rings_used_.get();
    // equivalent(bound): the same number is stored again
    while (used < rings && !rings_used_.exchange_if(used, rings)) {
    }
  }

  std::size_t ring_index(const Ring& ring) const noexcept {
    return static_cast<std::size_t>(&ring - rings_);
  }
  // The rings that all producers share.
  void close_shared() noexcept {
    const std::size_t shared = kClassRings ? layout_.rings : 1;
    for (std::size_t i = 0; i < shared; ++i) rings_[i].close_among();
  }

  static Claim try_claim(const Port& port, std::size_t most, Admission admission) noexcept {
    if constexpr (kLanes) {
      if (port.alone) return port.ring->claim_alone(most, admission);
    }
    return port.ring->claim_among(most, admission);
  }

  [[gnu::noinline]] Claim claim_slowly(const Port& port, std::size_t most, Admission admission,
                                       const Until* until, Claim got) {
    // Inside a handler it would wait for itself.
    if (waits_ && got.refused == Status::full && until != nullptr && !is_taking_here()) {
      got = claim_waiting(port, most, admission, *until);
    }
    if constexpr (kLanes) {
      // A claim that was taken back may have kept a consumer from seeing that all is drained.
      if (got.refused == Status::closed && port.alone) announce();
    }
    if constexpr (kClassRings) {
      // shut() may still be closing the others: what is refused is so in each class from here on.
      if (got.refused == Status::closed) close_shared();
    }
    if (got.count == 0 && got.refused != Status::closed) {
      const std::size_t its = kClassRings ? ring_index(*port.ring) : index_of(admission);
      refused_[its].add(1);
    }
    return got;
  }

  Claim claim_waiting(const Port& port, std::size_t most, Admission admission, const Until& until) {
    Claim got;
    const auto found = [&] {
      got = try_claim(port, most, admission);
      return got.refused != Status::full;
    };
    if (!look_until(found, time_to_look(std::chrono::nanoseconds(-1)), until, "full")) {
      auto& waiters = port.ring->waiters;
      sync::EventCount& events = waiters.events[index_of(admission)];
      const RareSleepers::Asleep asleep(waiters.sleepers);
      const Status waited = status_of(
          events.await(found, until.deadline(), until.stop_token(), sync::Spin::never, "full"));
      if (waited != Status::ok) got.refused = waited;
      // Each place that came free has woken one; a producer that takes several at once, or was told
      // for nothing, passes it on.
      if (port.ring->has_room(admission)) events.notify_one();
    }
    return got;
  }

  template <class Each>
  std::size_t take_from(Ring& ring, std::size_t most, Each& each) {
    std::size_t count = 0;
    Ticket head = ring.head();
    for (std::size_t looks = ring.capacity(); looks > 0 && count < most; --looks, head += 2) {
      const auto mark = ring.mark_at(head);
      if (!Ring::is_message(mark)) [[unlikely]] {
        if (mark == Ring::kNothing) break;
        step_over(ring, head);
        continue;
      }
      const bool is_last = looks == 1 || count + 1 == most;
      count += take_one(Look{*this, ring, head, is_last}, mark, each);
    }
    return count;
  }

  // The next one is looked for anew behind each handler: it is the most urgent one.
  template <class Each>
  std::size_t take_by_priority(std::size_t most, Each& each) {
    std::size_t count = 0;
    for (std::size_t looks = layout_.places * layout_.rings; looks > 0 && count < most; --looks) {
      const Next next = turns_.next(
          [this](std::size_t of) noexcept { return Next{&rings_[of], next_mark(rings_[of])}; });
      if (!next) break;
      const bool is_last = looks == 1 || count + 1 == most;
      count += take_one(Look{*this, *next.ring, next.ring->head(), is_last}, next.mark, each);
    }
    return count;
  }
  struct Next {
    explicit operator bool() const noexcept { return Ring::is_message(mark); }
    Ring* ring = nullptr;
    typename Ring::Mark mark = Ring::kNothing;
  };
  // Steps over claims that were dropped.
  typename Ring::Mark next_mark(Ring& ring) noexcept {
    for (Ticket head = ring.head();; head += 2) {
      const auto mark = ring.mark_at(head);
      if (mark != Ring::kSkipped) [[likely]]
        return mark;
      step_over(ring, head);
    }
  }

  template <class Each>
  [[gnu::always_inline]] std::size_t take_one(const Look& look, typename Ring::Mark mark,
                                              Each& each) {
    return Types::visit(Ring::type_of(mark), [&]<class T>(std::type_identity<T>) {
      const Taken<T> taken(look.ring, look.ticket);
      Slot& slot = look.ring.slot(look.ticket);
      const probe::Slice slice(probe::Kind::message, type_name<T>(), &slot);
      return hand_out(slot.template value<T>(), look, each);
    });
  }

  // How many were handed out: this one, or none.
  template <class T, class Each>
  std::size_t hand_out(T& message, const Look& look, Each& each) {
    if (ends(message)) [[unlikely]]
      return 0;
    if constexpr (kIsRequest<T>) {
      if (drops(message, message.lapsed())) return 0;
    }
    ++sequence_;
#if defined(__cpp_exceptions)
    try {
      each(message, look);
    } catch (...) {
      figures_.count_failed(std::current_exception());
      throw;
    }
#else
    each(message, look);
#endif
    return 1;
  }

  Outcome why_dropped() const noexcept {
    if (!how_.begins_more) return Outcome::cancelled;
    return sync::clock::now() >= how_.deadline ? Outcome::expired : Outcome::done;
  }
  // Whether it is one that nobody is handed any more, counted as such.
  template <class T>
  bool drops(T& message, Outcome why) noexcept {
    if (why == Outcome::done) return false;
    if constexpr (kIsRequest<T>) message.lapse(why);
    figures_.count_unhandled(why);
    return true;
  }
  void step_over(Ring& ring, Ticket head) noexcept {
    figures_.count_skipped();
    ring.give_back(head + 2);
  }
  // Nothing but dropped claims, as far as the ring is filled.
  static bool nothing_from(const Ring& ring, Ticket ticket) noexcept {
    // equivalent(bound): the place of the message itself, which holds none of the next lap
    for (std::size_t i = 1; i < ring.capacity(); ++i, ticket += 2) {
      const auto mark = ring.mark_at(ticket);
      if (mark != Ring::kSkipped) return mark == Ring::kNothing;
    }
    return true;
  }

  // Hardly ever written.
  const Layout layout_;
  const AdmissionLimits limits_;
  const std::chrono::nanoseconds spin_for_;
  const BusMemory memory_;
  Ring* rings_ = nullptr;
  sync::atomic<bool>* lanes_taken_ = nullptr;  // of the rings from 1 on
  sync::relaxed<std::size_t> rings_used_{1};  // order: written before a message is looked for
  sync::atomic<bool> closed_{false};
  sync::relaxed<bool> over_;
  const bool waits_;  // producers do, for room
  Parked arrivals_;  // the consumer, that waits for a message

  // Written by producers that find no room, often then: on a line of its own.
  alignas(sync::destructive_span) sync::relaxed<std::uint64_t> refused_[Order::kClasses];

  // The consumer's.
  alignas(sync::destructive_span) std::size_t next_ring_ = 0;
  [[no_unique_address]] typename Order::Turns turns_;
  std::uint64_t sequence_ = 0;
  Closing how_;
  bool limited_ = false;  // `how_` may want some dropped
  BusFigures figures_;

  // Written once a drain, read by producers that find no room: apart from what each message writes.
  alignas(sync::destructive_span) BusTaker taker_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
