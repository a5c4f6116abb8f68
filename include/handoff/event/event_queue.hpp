// SPDX-License-Identifier: MIT
//
// Events by key for later: any thread enqueues, and the thread that drains calls the listeners.
//
//   handoff::EventQueue<int, void(const Reading&)> queue;
//   auto handle = queue.append_listener(kSensor, [](const Reading& r) { ... });
//   handoff::Status s = queue.enqueue(kSensor, reading);    // any thread
//   queue.drain();                                          // to the listeners
//   queue.drain(visitor);                   // to one visitor that the compiler can inline
//   queue.drain_if(chooser);                // to the listeners, those that it takes
//   while (queue.wait(stop) == handoff::Status::ok) queue.drain();   // a thread that serves it
//
// For: events that cross from threads to the thread that owns the state they change; the main loop
// of a program. Not for: events handled at once (EventDispatcher); work of all kinds (a pool).
//
// Contract: deferred tier. It is an EventDispatcher too: see there for listeners and dispatch().
// - Concurrency: thread-safe, except the destructor, which may run inside a listener of this queue,
//   on the only thread that drains. Several threads may drain: each event goes to one of them.
// - Order: FIFO per producer, and causal between producers: an event that was enqueued because of
//   another comes after it. If several threads drain, they take events in this order. If there is a
//   Policies::priority, it comes first. Events that are enqueued during a drain wait for the next
//   one.
// - Blocks: wait(); enqueue(), if on_full says wait; close(), until nothing is left. Any other
//   enqueue() blocks only while another producer appends a chunk, and for some microseconds when a
//   producer is no longer alone. An event whose enqueue() is under way holds back those behind it.
// - Wakes: enqueue() and a batch wake one sleeping thread. A call that leaves events behind (by its
//   `most`, a Next or an exception) wakes the next one, so several threads can share a batch.
// - Allocates: enqueue() takes a chunk now and then from a pool that all queues share; see trim().
// - Full: the queue grows, unless Policies::bounded gives it a capacity (no option: it costs a
//   read-modify-write an event). Then on_full says reject, wait or overwrite_oldest, which destroys
//   the oldest event and counts it as expired. In a listener of this queue `wait` says full. What
//   was done with the events that made room happens before the enqueue() that took it returns.
// - Coalesced: one that replaces another needs no room; that is cancelled. enqueue() may hash, copy
//   and compare keys and end what is replaced under the consumers' lock: none may call the queue.
// - Closed: shut() ends waits for room, too.
// - Exceptions: one from a listener or visitor ends the drain; its event counts as failed, and all
//   others stay, in order. If a chooser throws, or hashing, comparing or copying a key to coalesce,
//   the event stays. An event whose construction throws was never enqueued.
//
// More ways to drain: docs/guide/events.md. How it works: docs/design/event_queue.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/capacity.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/deferred.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/event/detail/arrivals.hpp>
#include <handoff/event/detail/event_store.hpp>
#include <handoff/event/detail/event_turn.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_queue_options.hpp>
#include <handoff/event/next.hpp>
#include <handoff/event/queued_event.hpp>
#include <handoff/memory/internal/chunk_pool.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class Key, class Signature, class Policies = EventPolicies>
class EventQueue;

template <class Key, class R, class... Args, class Policies>
class EventQueue<Key, R(Args...), Policies> : public EventDispatcher<Key, R(Args...), Policies> {
  using Dispatcher = EventDispatcher<Key, R(Args...), Policies>;
  using Store = detail::EventStore<Key, Policies, Args...>;
  using Slot = typename Store::Slot;
  using Session = typename Store::Session;
  using Turn = detail::EventTurn<Key, Policies, R, Args...>;
  static constexpr bool kBounded = detail::is_bounded<Policies>();
  static constexpr bool kCoalesces = detail::coalesces<Policies>();
  static_assert(
      !requires { Policies::on_full; },
      "on_full is no policy of an event queue: set bounded = true, and the option "
      "{.on_full = handoff::OnFull::wait}");
  static_assert(
      Slot::kOrdered || !requires { &Policies::priority; },
      "Policies::priority is called with the key and all arguments of an event, const");
  static constexpr std::size_t kAll = ~std::size_t{0};
  static constexpr bool kHasKeyInside =
      requires(const std::decay_t<Args>&... args) { Policies::get_key(args...); };
  template <class Tuple, class... A>
  static constexpr bool kMakes =
      std::tuple_size_v<Tuple> == sizeof...(A) && std::is_constructible_v<Tuple, A...>;
  template <class... A>
  static constexpr bool kFits = kMakes<std::tuple<std::decay_t<Args>...>, A...>;
  // What enqueue() can make an event of, without and with an Until.
  template <class... A>
  static constexpr bool kIsEvent =
      (kHasKeyInside && kFits<A...>) || kMakes<std::tuple<Key, std::decay_t<Args>...>, A...>;
  template <class... A>
  static constexpr bool kIsWaitingEvent =
      (kHasKeyInside && kMakes<std::tuple<Until, std::decay_t<Args>...>, A...>) ||
      kMakes<std::tuple<Until, Key, std::decay_t<Args>...>, A...>;

 public:
  // What peek() and take() return.
  using Event = QueuedEvent<Key, Args...>;
  using Dispatcher::dispatch;

  // EventQueueOptions, or BoundedEventQueueOptions.
  using Options = std::conditional_t<kBounded, BoundedEventQueueOptions, EventQueueOptions>;

  // Throws std::bad_alloc. A capacity of 0, and an on_full that it has not, are misuse.
  explicit EventQueue(const Options& options = {})
      : store_(make_store(options)), spin_for_(detail::time_to_look(options.spin_for)) {}
  // Says what is wrong with EventQueue({.capacity = 64}).
  template <class Wrong = BoundedEventQueueOptions>
    requires(!kBounded && std::is_same_v<Wrong, BoundedEventQueueOptions>)
  explicit EventQueue(const Wrong& /*options*/) : store_(nullptr), spin_for_() {
    static_assert(
        sizeof(Wrong) == 0,
        "this queue grows: leave the capacity out, or set bounded = true in its policies");
  }
  ~EventQueue() { store_->end(); }

  // ok, full or closed.
  template <class K, class... A>
    requires(kFits<A...> && std::is_constructible_v<Key, K>)
  Status enqueue(K&& key, A&&... args) {
    return put({}, sync::no_deadline, std::forward<K>(key), std::forward<A>(args)...);
  }

  // The same with the key that the arguments hold.
  template <class... A>
    requires(kHasKeyInside && kFits<A...>)
  Status enqueue(A&&... args) {
    Key key = Policies::get_key(std::as_const(args)...);
    return put({}, sync::no_deadline, std::move(key), std::forward<A>(args)...);
  }

  // No event: says so.
  template <class... A>
    requires(!kIsEvent<A...> && !kIsWaitingEvent<A...>)
  Status enqueue(A&&...) {
    static_assert(
        kIsEvent<A...>,
        "enqueue: takes the key and the arguments of the signature; an Until comes first");
    return Status::closed;
  }

  // If on_full says wait, it waits for room until `until` ends. Also timed_out and stopped.
  template <class K, class... A>
    requires(kFits<A...> && std::is_constructible_v<Key, K>)
  Status enqueue(const Until& until, K&& key, A&&... args) {
    return put(until, sync::no_deadline, std::forward<K>(key), std::forward<A>(args)...);
  }
  template <class... A>
    requires(kHasKeyInside && kFits<A...>)
  Status enqueue(const Until& until, A&&... args) {
    Key key = Policies::get_key(std::as_const(args)...);
    return enqueue(until, std::move(key), std::forward<A>(args)...);
  }

  // An event that is worth nothing after a time or a moment: then it is destroyed, and counts as
  // expired.
  template <class Time, class K, class... A>
    requires(kFits<A...> && std::is_constructible_v<Key, K>)
  Status enqueue_expiring(const Time& deadline, K&& key, A&&... args) {
    static_assert(Slot::kExpires,
                  "events of this queue do not expire: set expires = true in its policies");
    static_assert(
        std::is_constructible_v<Until, Time> && !std::is_constructible_v<Until, Until, Time>,
        "an event expires after a duration or at a moment of steady_clock");
    return put({}, Until(deadline).deadline(), std::forward<K>(key), std::forward<A>(args)...);
  }

  // Moves in the first events, as many as are accepted, and returns how many; the rest is
  // untouched. A waiter is woken at the end, and where it waits for room. If on_full says wait, it
  // waits for room for all of them until `until` ends.
  std::size_t enqueue_batch(std::span<Event> events, const Until& until = {}) {
    const NotificationHold hold(*this);
    std::size_t count = 0;
    for (Event& event : events) {
      const Status status = std::apply(
          [&](auto&... args) {
            return put(until, sync::no_deadline, std::move(event.key), std::move(args)...);
          },
          event.arguments);
      if (status != Status::ok) break;
      ++count;
    }
    return count;
  }

  // Calls the listeners for what is in the queue, but goes through `most` events at most. Returns
  // how many left it.
  std::size_t drain(std::size_t most = kAll) {
    return run(most, [](Turn& turn, Slot& slot) { return turn.deliver(slot); });
  }

  // To `visitor(key, args&...)` instead of the listeners, after the filters. It returns void, or a
  // Next; what it leaves keeps the arguments as they are now.
  template <class Visitor>
    requires(!std::is_convertible_v<Visitor, std::size_t>)
  std::size_t drain(Visitor&& visitor, std::size_t most = kAll) {
    static_assert(Turn::template kShows<Visitor>,
                  "drain: the visitor takes key and arguments, and returns void or handoff::Next");
    return run(most, [&](Turn& turn, Slot& slot) { return turn.show(visitor, slot); });
  }

  // To the listeners, those that `chooser(key, args...)`, `chooser(args...)` or `chooser()` takes:
  // it returns a Next.
  template <class Chooser>
  std::size_t drain_if(Chooser&& chooser, std::size_t most = kAll) {
    static_assert(Turn::template kAsks<Chooser>,
                  "drain_if: the chooser takes key and arguments, the arguments, or nothing, all "
                  "const, and returns handoff::Next");
    return run(most, [&](Turn& turn, Slot& slot) {
      const Next next = Turn::ask(chooser, slot);
      return next == Next::take ? turn.deliver(slot) : next;
    });
  }

  // A copy of the first event, which stays.
  std::optional<Event> peek()
    requires std::is_copy_constructible_v<Event>
  {
    std::optional<Event> copy;
    run(1, [&](Turn&, Slot& slot) {
      slot.copy_to(copy);
      return Next::stop;
    });
    return copy;
  }
  // The first event itself.
  std::optional<Event> take() {
    std::optional<Event> taken;
    run(1, [&](Turn&, Slot& slot) {
      slot.move_to(taken);
      return Next::take;
    });
    return taken;
  }
  // Calls the listeners for an event that was taken.
  void dispatch(Event& event) const {
    detail::Pass pass(this->hub_);
    std::apply([&](auto&... args) { this->hub_->dispatch(pass, event.key, args...); },
               event.arguments);
  }
  void dispatch(Event&& event) const { dispatch(event); }

  // Destroys what is in the queue; it counts as cancelled. Returns how many.
  std::size_t clear() {
    Session session(*store_, kAll);
    std::size_t count = 0;
    for (; session.next() != nullptr; ++count) session.cancel();
    return count;
  }

  // How many events may wait; `unbounded` if it grows.
  [[nodiscard]] std::size_t capacity() const noexcept { return store_->room().capacity(); }

  // Events that wait, those that are handled among them; a figure of the moment.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(tally().pending);
  }
  // Whether there is nothing to drain; the same.
  [[nodiscard]] bool empty() const noexcept { return !store_->any(); }

  // Waits while there is nothing to drain. ok, closed (and nothing ever will be), timed_out or
  // stopped.
  Status wait(const Until& until = {}) {
    return wait_for_any([this] { return store_->any(); }, until);
  }

  // While one of these lives, enqueue() wakes nobody unless someone waits for room; the end of the
  // last one wakes one, if there is something to drain. A consumer that is awake, or comes to wait,
  // finds the events all the same.
  class NotificationHold {
   public:
    explicit NotificationHold(EventQueue& queue) noexcept : queue_(queue) {
      queue.arrivals().hold();
    }
    ~NotificationHold() {
      queue_.arrivals().release([this] { return queue_.store_->any(); });
    }
    NotificationHold(const NotificationHold&) = delete;
    NotificationHold& operator=(const NotificationHold&) = delete;

   private:
    EventQueue& queue_;
  };

  // No enqueue() that begins after this is accepted; wakes all waiting threads. Idempotent.
  void shut() noexcept { store_->shut(); }
  // Whether it was shut. What came before it happens before a true.
  bool closed() const noexcept { return store_->closed(); }

  // By a thread that drains: shuts it and gives what is left its outcome, to the listeners, or to a
  // visitor, which takes all. Waits for events whose enqueue() is under way; what listeners throw
  // is unheard (core/on_unheard.hpp). What a drain of another thread has taken is for that thread
  // to end, and pending until then. Inside a listener of this queue it is misuse; a listener that
  // is called here must not destroy the queue.
  Tally close(const Closing& how = Closing::finish) {
    return close_by(how, [](Turn& turn, Slot& slot) { return turn.deliver(slot); });
  }
  template <class Visitor>
  Tally close(const Closing& how, Visitor&& visitor) {
    static_assert(Turn::template kShows<Visitor> &&
                      !detail::Chooses<Visitor, const Key&, std::decay_t<Args>&...>,
                  "close: the visitor takes key and arguments, and returns nothing");
    return close_by(how, [&](Turn& turn, Slot& slot) { return turn.show(visitor, slot); });
  }

  // Exact while no call is under way.
  [[nodiscard]] Tally tally() const noexcept { return store_->tally(); }

  // Gives memory that is not in use back to the system, that of other queues too.
  void trim() {
    store_->trim();  // equivalent(swap): two pools that do not know each other
    detail::trim_chunks();
  }

 protected:
  // As drain(), to the listeners of another hub: for a caller that keeps its own.
  std::size_t drain_to(typename Dispatcher::Hub& hub, std::size_t most = kAll) {
    return Turn(*store_, hub, most).run([](Turn& turn, Slot& slot) { return turn.deliver(slot); });
  }

  // As wait(), but not before the end of the last NotificationHold.
  Status wait_told(const Until& until = {}) {
    return wait_for_any([this] { return !held() && store_->any(); }, until);
  }
  bool held() const noexcept { return arrivals().held(); }

 private:
  template <class>
  friend struct detail::Books;

  template <class Each>
  std::size_t run(std::size_t most, Each&& each) {
    return Turn(*store_, *this->hub_, most).run(each);
  }

  template <class Each>
  Tally close_by(const Closing& how, const Each& each) {
    if (detail::Pass::inside(store_)) {
      misuse("an event queue was closed inside one of its listeners: shut() it there");
    }
    shut();
    const auto is_late = [&how] {
      return !how.begins_more ||
             (how.deadline != sync::no_deadline && sync::clock::now() >= how.deadline);
    };
    do {
      drain_until(is_late, each);
      if (!is_late()) continue;
      Session rest(*store_, kAll);
      while (rest.next() != nullptr) how.begins_more ? rest.expire() : rest.cancel();
    } while (wait() == Status::ok);
    return tally();
  }

  // What a listener throws leaves no close(). What else is thrown goes on.
  template <class IsLate, class Each>
  void drain_until(const IsLate& is_late, const Each& each) {
    [[maybe_unused]] bool listener_threw = false;  // nobody asks where nothing throws
    const auto one = [&](Turn& turn, Slot& slot) {
      if (is_late()) return Next::stop;
      Next next = Next::take;
      detail::call_or([&] { next = each(turn, slot); }, [&]() noexcept { listener_threw = true; });
      return next;
    };
#if defined(__cpp_exceptions)
    try {
      run(kAll, one);
    } catch (...) {
      if (!listener_threw) throw;
      detail::unheard(
          std::current_exception(),
          {.type = "EventQueue::close()", .some = "a listener", .remedy = "catch it there"});
    }
#else
    run(kAll, one);
#endif
  }

  template <class K, class... A>
  Status put(const Until& until, sync::Deadline deadline, K&& key, A&&... args) {
    if (closed()) [[unlikely]]
      return Status::closed;
    if constexpr (kBounded) {
      const Status status = make_room(until, std::as_const(key));
      if (status != Status::ok) return status;
    }
    return store_->push(deadline, std::forward<K>(key), std::forward<A>(args)...) ? Status::ok
                                                                                  : Status::closed;
  }

  template <class K>
  Status make_room(const Until& until, const K& key) {
    while (!take_room(key)) {
      const OnFull on_full = store_->room().on_full();
      if (on_full == OnFull::reject) return Status::full;
      if (on_full == OnFull::wait) {
        return detail::Pass::inside(store_) ? Status::full : wait_for_room(until, key);
      }
      Session session(*store_, 1);
      if (session.next() == nullptr) return Status::full;  // all of them are being processed
      session.expire();
    }
    return Status::ok;
  }

  template <class K>
  Status wait_for_room(const Until& until, const K& key) {
    bool taken = false;
    const auto found = [&] {
      if (closed() || (taken = take_room(key))) return true;
      // Only consumers make room, and a NotificationHold may have kept all of them asleep so far.
      arrivals().wake(1);
      return false;
    };
    const detail::Arrivals::WaitForRoom waiting(arrivals());
    const sync::Wakeup why = store_->room().wait(found, until);
    if (why != sync::Wakeup::notified) return detail::status_of(why);
    return taken ? Status::ok : Status::closed;
  }

  template <class K>
  bool take_room([[maybe_unused]] const K& key) {
    if (store_->room().take()) return true;
    if constexpr (!kCoalesces) {
      return false;
    } else if constexpr (std::is_same_v<K, Key>) {
      return store_->take_room_of(key);
    } else {
      static_assert(std::is_constructible_v<Key, const K&>,
                    "a queue that coalesces and has a bound looks for the key before it takes it: "
                    "enqueue a Key");
      return store_->take_room_of(Key(key));
    }
  }

  detail::Arrivals& arrivals() const noexcept { return store_->arrivals(); }

  template <class Any>
  Status wait_for_any(const Any& any, const Until& until) {
    bool found = false;
    const auto ready = [&] { return (found = any()) || store_->over(); };
    const Status waited = arrivals().wait(ready, spin_for_, until);
    if (waited != Status::ok) return waited;
    return found ? Status::ok : Status::closed;
  }

  static Store* make_store([[maybe_unused]] const Options& options) {
    if constexpr (!kBounded) {
      return Store::make(unbounded, OnFull::grow);
    } else {
      if (options.capacity == 0) {
        misuse("an event queue was made with a capacity of 0: say 1 or more, or unbounded");
      }
      if (options.on_full == OnFull::run_here || options.on_full == OnFull::grow) {
        misuse(
            "an event queue with a bound rejects, waits or overwrites its oldest: see its option "
            "on_full; it runs no listeners in enqueue()");
      }
      return Store::make(options.capacity, options.on_full);
    }
  }

  Store* const store_;
  const std::chrono::nanoseconds spin_for_;
};

static_assert(Deferred<EventQueue<int, void()>>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
