// SPDX-License-Identifier: MIT
//
// Typed messages from any thread to the one that handles them.
//
//   handoff::MessageBus<Reading, Command> bus({.capacity = 4096});
//   handoff::Status s = bus.publish(Reading{7, 21.5});                    // any thread
//   bus.drain(handoff::overloaded{[](const Reading& r) { ... },           // the consumer: to one
//                                 [](const Command& c) { ... }});         //   visitor, inlined
//   auto handle = bus.subscribe<Reading>([](const Reading& r) { ... });   // any thread
//   while (bus.wait(stop) == handoff::Status::ok) bus.drain();            // to the subscribers
//
// For: components that talk by value; a thread that owns a state; logging, telemetry. Not for: one
// type and several consumers (Channel); events by key, without a bound (EventQueue); work (a pool).
// A LanedMessageBus gives each Producer (bus.producer()) a lane of its own: cheaper, and only each
// producer's own order is kept. A PriorityMessageBus hands out the most urgent message first.
//
// Contract: deferred tier.
// - Concurrency: publish*(), try_publish(), claim*(), request(), producer(), subscribe(), shut()
//   and the figures are thread-safe. A Producer belongs to one thread at a time. One thread at a
//   time, the consumer, calls drain(), wait(), close(), record(), stop_recording() and replay().
//   Handlers may publish, subscribe, unsubscribe, shut and close; drain(), replay() and wait() of
//   the same bus are misuse there.
// - Order: a MessageBus is FIFO per producer, and causal between producers. A LanedMessageBus keeps
//   the order of each Producer, and of bus.publish(), which counts as one producer. In a
//   PriorityMessageBus an urgent message comes next after the handler that runs now; each priority
//   has the order of a MessageBus, and different ones have none among themselves. What came before
//   a publish() happens before the handler.
// - Blocks: wait(); publish(), if on_full says wait; close(), until all that was accepted has its
//   outcome. An open claim, or a publish() under way, holds back what was claimed later, in its
//   lane or of its priority where there are any.
// - Cost: a publish() is one compare-and-swap, or plain stores in a lane, and one load if the
//   consumer is awake.
// - Allocates: the constructor (unless memory is lent), subscribe(), request(), recordings, and
//   messages larger than Policies::inline_bytes.
// - Full: options.reserve keeps places for urgent messages; by priority each has its own. In a
//   handler of the same bus publish() says `full` and does not wait.
// - Exceptions: one from a handler ends the drain() and reaches its caller. If a message's
//   constructor throws, it was never published; the consumer is woken, and frees its place.
// - Destruction: no claim, Producer or call of another thread may be left.
// Proof: docs/design/message_bus.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/bus_policies.hpp>
#include <handoff/bus/detail/bus_core.hpp>
#include <handoff/bus/detail/message_handlers.hpp>
#include <handoff/bus/detail/message_recording.hpp>
#include <handoff/bus/detail/publishing.hpp>
#include <handoff/bus/detail/subscribers.hpp>
#include <handoff/bus/message_bus_options.hpp>
#include <handoff/bus/message_meta.hpp>
#include <handoff/bus/topic.hpp>
#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/deferred.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/overloaded.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/listener_options.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/sync/clock.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// A bus as its policies say; see MessageBus and LanedMessageBus below.
template <class Policies, class... Messages>
class BasicMessageBus
    : public detail::Publishing<BasicMessageBus<Policies, Messages...>,
                                detail::BusCore<Policies, Messages...>, Policies> {
  using Core = detail::BusCore<Policies, Messages...>;
  using Types = typename Core::Types;
  template <class Derived>
  using Calls = detail::Publishing<Derived, Core, Policies>;
  static constexpr std::size_t kAll = ~std::size_t{0};

  static_assert(sizeof...(Messages) > 0, "a message bus has at least one type of message");
  static_assert((detail::HeldByValue<Messages> && ...),
                "a message is a value, not a reference, whose destructor does not throw");
  static_assert(((Types::template kTimes<Messages> == 1) && ...),
                "a message bus has each type of message once: wrap one of them in a struct");
  static_assert(sizeof...(Messages) <= Core::Ring::kTypesMost, "too many types of messages");
  static_assert(
      !requires { Policies::on_full; },
      "on_full is no policy of a message bus but one of its options: {.on_full = "
      "handoff::OnFull::wait}");

 public:
  // MessageBusOptions, LanedMessageBusOptions or PriorityMessageBusOptions.
  using Options = typename Core::Options;
  // What handlers may take as their second argument.
  using Meta = MessageMeta<Policies>;
  // What publish() may be told besides the message.
  using Given = typename Calls<BasicMessageBus>::Given;

  // Throws std::bad_alloc, and std::length_error for a capacity beyond what there can be. One of 0,
  // an on_full other than reject and wait, and a reserve of more than 100 percent are misuse.
  explicit BasicMessageBus(const Options& options = {}) : core_(options) {}

  // With its places in `memory`, which outlives it. It takes bytes_needed(options), whatever its
  // alignment.
  BasicMessageBus(const Options& options, std::span<std::byte> memory)
      : core_(options, 0, memory) {}
  [[nodiscard]] static std::size_t bytes_needed(const Options& options = {}) {
    return Core::bytes_needed(options);
  }

  // --- Producers. Also the calls of detail/publishing.hpp: publish, try_publish, publish_batch,
  // claim, claim_with, request. ---

  class Producer;
  // A handle to publish with. On a bus of lanes it has one for itself while it lives, as long as
  // there are free ones; else it shares one, as bus.publish() does. Not for longer than the bus.
  [[nodiscard]] Producer producer() noexcept { return Producer(core_); }

  // --- Subscribers. ---

  // Called by drain() with each message of this type: f(message), f(message, meta), or
  // f(message, sequence, end_of_batch).
  template <class T, class F>
  ListenerHandle subscribe(F&& function, const ListenerOptions& options = {}) {
    return subscribers_.template add<T>([](const auto&) { return true; }, std::forward<F>(function),
                                        options);
  }
  // With those whose topic passes.
  template <class T, class F>
  ListenerHandle subscribe(TopicFilter filter, F&& function, const ListenerOptions& options = {}) {
    static_assert(Policies::topics,
                  "messages of this bus have no topics: set topics = true in its policies");
    return subscribers_.template add<T>(
        [filter = std::move(filter)](const auto& meta) { return filter.passes(meta().topic); },
        std::forward<F>(function), options);
  }

  // --- The consumer. ---

  // Hands out what is there, `most` messages at most, and no more than there are places, so it
  // ends; returns how many: 0 if there is none. A message that nobody has subscribed to is done.
  std::size_t drain(std::size_t most = kAll) {
    return take([&](auto& delivery, auto& message, const auto& meta) { delivery(message, meta); },
                Delivery(subscribers_), most);
  }

  // To one visitor instead, which may be of any of the forms above and take the message as T&.
  template <class Visitor>
    requires(!std::is_convertible_v<Visitor, std::size_t>)
  std::size_t drain(Visitor&& visitor, std::size_t most = kAll) {
    check_visitor<Visitor>();
    return take([](auto& handler, auto& message,
                   // equivalent(delete): a check that the compiler makes; it does nothing when run
                   const auto& meta) { detail::call_handler<Meta>(handler, message, meta); },
                visitor, most);
  }

  // Waits while nothing is there. ok, closed (and nothing ever will be), timed_out or stopped.
  Status wait(const Until& until = {}) { return core_.wait(until); }

  // --- The close. ---

  // By any thread: nothing that begins after this is accepted. What is there can be drained.
  void shut() noexcept { core_.shut(); }
  // Whether it was shut. What came before it happens before a true.
  bool closed() const noexcept { return core_.closed(); }

  // By the consumer: shuts it and gives the rest its outcome, to the subscribers, or to a visitor;
  // where there is neither, it is cancelled.
  // Waits for claims under way; what handlers throw is unheard (core/on_unheard.hpp). Inside a
  // handler it returns at once, with the rest still pending: the drain() that is under way, and
  // those that follow, do what `how` says, and a close() after them returns the final Tally.
  Tally close(const Closing& how = Closing::finish) {
    const bool is_heard = subscribers_.any() || core_.is_taking_here();
    return close_by(is_heard ? how : Closing::abandon, [&] { drain(); }, &tell_unheard);
  }
  template <class Visitor>
  Tally close(const Closing& how, Visitor&& visitor) {
    check_visitor<Visitor>();
    // equivalent(delete): a check that the compiler makes; it does nothing when run
    return close_by(how, [&] { drain(visitor); }, &tell_unheard);
  }

  // Exact while no call is under way. What was refused is no part of it.
  [[nodiscard]] Tally tally() const noexcept { return core_.tally(); }

  // --- Figures of the moment. ---

  // Messages that wait, what is being made or handled among them.
  [[nodiscard]] std::size_t size() const noexcept { return core_.depth(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  // Places: of a lane, or of a priority, where there are any.
  [[nodiscard]] std::size_t capacity() const noexcept { return core_.capacity(); }
  // How full the bus is, or its fullest lane, where there are any.
  [[nodiscard]] Pressure pressure() const noexcept
    requires(!Core::kClassRings)
  {
    return core_.pressure();
  }
  // How many calls were refused for want of room, or stopped waiting for it: of a class, or all.
  [[nodiscard]] std::uint64_t refused(typename Core::Class of) const noexcept {
    return core_.refused(of);
  }
  [[nodiscard]] std::uint64_t refused() const noexcept { return core_.refused(); }

  // --- Recordings, of messages that are trivially copyable. ---

  // From now on each message is written to a file as it is handed out: beside the path, with a name
  // of its own (PATH.unfinished, PATH.unfinished.1), so that others may record to the same path
  // meanwhile; the last that is stopped stays there. Throws std::system_error.
  void record(const char* path) {
    static_assert(kRecordable, "only messages that are trivially copyable can be recorded");
    if (recording_ != nullptr) misuse("a message bus was recorded twice at a time");
    recording_ = detail::begin_recording(path, kTypes);
  }
  // The file is whole from here on, and in its place. Throws std::system_error for any call of the
  // recording that failed, and for a topic of more than 64 KiB; then there is no file. A bus that
  // ends has no file either.
  void stop_recording() {
    static_assert(kRecordable, "only messages that are trivially copyable can be recorded");
    if (recording_ == nullptr) misuse("a message bus stopped a recording that it had not begun");
    const auto ended = std::move(recording_);
    detail::finish_recording(*ended);
  }

  // Hands out what a file has, as drain() would; returns how many. They are no part of the Tally.
  // A file that is not whole, or of other messages, is refused before any is handed out:
  // std::runtime_error, with one line that says why. Names of topics last as long as the handler.
  std::size_t replay(const char* path, Pace pace = Pace::full_speed) {
    // One each: a thread that removes a subscriber and waits does not wait for the pause behind a
    // message.
    return replay_by(path, pace, [&](auto& message, const auto& meta) {
      Delivery delivery(subscribers_);
      delivery(message, meta);
    });
  }
  template <class Visitor>
    requires(!std::is_convertible_v<Visitor, Pace>)
  std::size_t replay(const char* path, Visitor&& visitor, Pace pace = Pace::full_speed) {
    check_visitor<Visitor>();
    return replay_by(path, pace, [&](auto& message, const auto& meta) {
      // equivalent(delete): a check that the compiler makes; it does nothing when run
      detail::call_handler<Meta>(visitor, message, meta);
    });
  }

 protected:
  BasicMessageBus(const Options& options, detail::RingStart start)
      : core_(options, start.position) {}

 private:
  template <class>
  friend struct detail::Books;
  template <class State, class... Types>
  friend class ActiveObject;
  friend Calls<BasicMessageBus>;

  using Delivery = typename detail::Subscribers<Meta, Messages...>::Delivery;
  static constexpr bool kRecordable = (std::is_trivially_copyable_v<Messages> && ...);
  [[gnu::visibility("hidden")]]  // docs/adr/0013
  static constexpr detail::RecordedType kTypes[]{
      {sizeof(Messages), alignof(Messages), detail::type_name<Messages>()}...};

  Core& core() noexcept { return core_; }
  typename Core::Port port() const noexcept { return core_.shared_port(); }

  template <class Visitor>
  static consteval void check_visitor() {
    static_assert((detail::kHandles<std::remove_reference_t<Visitor>, Messages, Meta> && ...),
                  "the visitor takes each type of message of the bus; then its meta data, or "
                  "sequence and end of batch");
  }
  template <class Call, class Handler>
  std::size_t take(const Call& call, Handler&& handler, std::size_t most) {
    return core_.take(
        [&](auto& message, const auto& look) {
          const auto meta = [&] { return look.meta(); };
          if constexpr (kRecordable) {
            if (recording_ != nullptr) [[unlikely]]
              write(message, look.meta());
          }
          call(handler, message, meta);
        },
        most);
  }

  // The exception that is being handled, which leaves no close().
  [[gnu::cold]] static void tell_unheard() noexcept {
    constexpr const char* kType = Core::kClassRings ? "PriorityMessageBus::close()"
                                  : Core::kLanes    ? "LanedMessageBus::close()"
                                                    : "MessageBus::close()";
    detail::unheard(std::current_exception(),
                    {.type = kType, .some = "a handler", .remedy = "catch it there"});
  }
  // `threw()`: a handler did.
  template <class Drain, class Threw>
  Tally close_by(const Closing& how, const Drain& drain_once, const Threw& threw) {
    core_.shut();  // equivalent(swap): how it ends is read by the consumer alone, which is here
    core_.end_as(how);
    if (core_.is_taking_here()) return core_.tally();
    if (core_.is_taking()) {
      misuse("a message bus was closed for good by a thread that does not drain it");
    }
    for (;;) {
      (void)detail::attempt(drain_once, threw);
      if (core_.is_over()) return core_.tally();
      core_.await_something();
    }
  }

  template <class T>
  [[gnu::noinline]] void write(const T& message, const Meta& meta) noexcept {
    detail::RecordedMessage recorded;
    // equivalent(swap): two fields of one message
    recorded.type = static_cast<std::uint32_t>(Types::template index<T>());
    recorded.taken_ns = sync::clock::now().time_since_epoch().count();
    if constexpr (Policies::senders) recorded.sender = meta.sender;
    if constexpr (Policies::topics) recorded.topic = meta.topic.name();
    if constexpr (Policies::times) {
      recorded.published_ns = meta.time.time_since_epoch().count();
    }
    recorded.bytes = std::as_bytes(std::span<const T, 1>(&message, 1));
    detail::write_recording(*recording_, recorded);
  }

  template <class Call>
  std::size_t replay_by(const char* path, Pace pace, const Call& call) {
    struct Context {
      const Call& call;
      std::uint64_t count = 0;
    } context{call};
    const auto each = [](void* self, const detail::RecordedMessage& recorded) {
      auto& replay = *static_cast<Context*>(self);
      hand_out(recorded, replay.count++, replay.call);
    };
    return core_.take_elsewhere(
        [&] { return detail::replay_recording(path, kTypes, pace, each, &context); });
  }
  template <class Call>
  static void hand_out(const detail::RecordedMessage& recorded, std::uint64_t number,
                       const Call& call) {
    Meta meta;
    meta.id = meta.sequence = number;
    if constexpr (Policies::senders) meta.sender = recorded.sender;
    if constexpr (Policies::topics) meta.topic = Topic(recorded.topic);
    if constexpr (Policies::times) {
      meta.time = sync::Deadline(std::chrono::nanoseconds(recorded.published_ns));
    }
    Types::visit(recorded.type, [&]<class T>(std::type_identity<T>) {
      alignas(T) std::byte bytes[sizeof(T)];
      for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = recorded.bytes[i];
      call(*std::launder(reinterpret_cast<T*>(bytes)), [&]() -> const Meta& { return meta; });
    });
  }

  Core core_;
  detail::Subscribers<Meta, Messages...> subscribers_;
  detail::RecordingOwner recording_;
};

// A producer's end of a bus: its lane. Move-only; its end gives the lane back.
template <class Policies, class... Messages>
class BasicMessageBus<Policies, Messages...>::Producer : public Calls<Producer> {
 public:
  // The one that was moved from shares a lane.
  Producer(Producer&& other) noexcept
      : core_(other.core_), port_(std::exchange(other.port_, other.core_->shared_port())) {}
  Producer& operator=(Producer&& other) noexcept {
    if (this != &other) {
      core_->give_lane(port_);
      core_ = other.core_;
      port_ = std::exchange(other.port_, core_->shared_port());
    }
    return *this;
  }
  ~Producer() { core_->give_lane(port_); }

  // Whether it has a lane for itself; else it publishes as the bus does.
  [[nodiscard]] bool has_lane() const noexcept { return port_.alone; }

 private:
  friend class BasicMessageBus;
  friend Calls<Producer>;
  explicit Producer(Core& core) noexcept : core_(&core), port_(core.take_lane()) {}

  Core& core() noexcept { return *core_; }
  typename Core::Port port() const noexcept { return port_; }

  Core* core_;
  typename Core::Port port_;
};

// One order for all producers.
template <class... Messages>
using MessageBus = BasicMessageBus<BusPolicies, Messages...>;

// Each producer's own order.
template <class... Messages>
using LanedMessageBus = BasicMessageBus<LanedBusPolicies, Messages...>;

// The most urgent first.
template <class... Messages>
using PriorityMessageBus = BasicMessageBus<PriorityBusPolicies, Messages...>;

static_assert(Deferred<MessageBus<int>> && Deferred<LanedMessageBus<int>> &&
              Deferred<PriorityMessageBus<int>>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
