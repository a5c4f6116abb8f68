// SPDX-License-Identifier: MIT
//
// Threads that handle messages: each message type has a handler, and any worker may run it.
//
//   handoff::MessageWorkers<Resize, Crop> workers(
//       {.width = 4}, [](const Resize& r) { ... }, [](Crop& c) { ... });
//   handoff::Status s = workers.publish(Resize{640});      // any thread
//   handoff::Tally tally = workers.close();
//   struct ByAccount {                                     // messages of one account in order
//     static std::uint64_t key(const Order& order) { return order.account; }
//   };
//   handoff::BasicMessageWorkers<ByAccount, Order> desk({.width = 8}, book);
//
// For: messages that take some microseconds or more, where several threads may handle all of them,
// or those of different keys, at once. Not for: one thread that owns the state (MessageBus,
// ActiveObject), functions of all kinds (ThreadPool), messages of some ten nanoseconds.
//
// Contract: executor tier. The workers are those of a ThreadPool: a handler may wait for a Future.
// - Concurrency: thread-safe, except set_handler() and start(), which belong to one thread; others
//   may publish meanwhile. Several threads call a handler at once, so it is const. Inside a handler
//   wait(), pause(), close() and destruction are misuse. The destructor comes after all other
//   calls.
// - Order: what came before publish() happens before the handler. Messages of one key
//   (Policies::key), of any type, are handled in the order of their publication, never two at once.
//   Other messages have no order.
// - Blocks: publish() with OnFull::wait on a full object, publish_and_wait(), wait(), pause(),
//   close(). Before start() and during a pause no handler begins, and these calls wait for it. In a
//   task of another pool put them into blocking(); publish_and_wait() does that itself.
// - Allocates: the constructor all places; publish() nothing, once the pool's queue has grown. If
//   there is no memory for that queue, the caller runs the message, in try_publish() too.
// - Full: with run_here the caller runs the handler, for a message with a key in its turn. Inside a
//   handler `wait` acts as run_here; there a message with a key, or one that finds the stack short,
//   is accepted beyond the capacity, in memory of its own (std::bad_alloc: it was not accepted).
// - Closing: close() ends a pause for good. If the workers were never started, it cancels all
//   messages.
// - Exceptions: an exception of a handler goes to publish_and_wait() if that waits for the message,
//   else to on_error, else the first to the next wait(); what nobody takes is unheard
//   (core/on_unheard.hpp). The message counts as failed, and the worker goes on.
//
// What unusual calls do: docs/guide/messages.md. How it works: docs/design/message_workers.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/bus/detail/message_engine.hpp>
#include <handoff/bus/detail/message_node.hpp>
#include <handoff/bus/detail/message_types.hpp>
#include <handoff/bus/message_workers_options.hpp>
#include <handoff/bus/worker_health.hpp>
#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/overloaded.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// Messages have no keys. Policies of your own may say
// `static std::uint64_t key(const M& message)` for some types or all: see the head comment. It must
// not throw.
struct MessageWorkersPolicies {};

namespace detail {

template <class Policies, class M>
inline constexpr bool kHasKey =
    requires(const M& message) { static_cast<std::uint64_t>(Policies::key(message)); };
// False for a key() that is overloaded, too.
template <class Policies>
inline constexpr bool kNamesKey = requires { &Policies::key; };

// One of these for each handler and message: so an error names both.
template <class Handlers, class M>
struct HandlerOf {
  static_assert(std::is_invocable_v<const Handlers&, M&>,
                "MessageWorkers: no handler takes this message, or the one that does is not const, "
                "as handlers are called by several threads at once");
  static constexpr bool is_there = true;
};

template <class M>
struct WorkersMessage {
  static_assert(std::is_object_v<M> && !std::is_const_v<M> &&
                    std::is_nothrow_move_constructible_v<M> && std::is_nothrow_destructible_v<M>,
                "MessageWorkers: a message is moved into its place: mark its move constructor and "
                "destructor noexcept, or hold a std::unique_ptr to it");
  static constexpr bool fits = true;
};

// M is what was published.
template <class Types, class M>
struct MessageAmong {
  static_assert(Types::template kHas<M>, "MessageWorkers: this type is none of their messages");
  static constexpr bool is_there = true;
};

// Handlers that are set later.
template <class... Messages>
struct LateHandlers {
  template <class M>
  using Slot = CopyableFunction<void(M&)>;

  template <class M>
  void operator()(M& message) const {
    std::get<Slot<M>>(functions)(message);
  }
  // The number of the first message without one; that of messages if none is without.
  std::uint32_t missing() const noexcept {
    std::uint32_t index = 0;
    (void)((std::get<Slot<Messages>>(functions) ? (++index, true) : false) && ...);
    return index;
  }

  std::tuple<Slot<Messages>...> functions;
};

}  // namespace detail

// Workers for messages that may have keys, as the policies say.
template <class Policies, class... Messages>
class BasicMessageWorkers {
  using Types = detail::MessageTypes<Messages...>;
  using LateHandlers = detail::LateHandlers<Messages...>;
  static_assert(sizeof...(Messages) > 0, "message workers have at least one type of message");
  static_assert(((Types::template kTimes<Messages> == 1) && ...),
                "message workers have each type of message once: wrap one of them in a struct");
  static_assert((detail::WorkersMessage<Messages>::fits && ...));
  static_assert(!detail::kNamesKey<Policies> || (detail::kHasKey<Policies, Messages> || ...),
                "the key() of these policies takes none of the messages: it takes a const "
                "reference and returns an integer");

  template <class M>
  static constexpr bool kKeyed = detail::kHasKey<Policies, M>;

 public:
  // Nothing runs until start(). Throws std::system_error if the system refuses the first thread; if
  // it refuses another, they work with those they got; std::length_error for a capacity beyond what
  // there can be (0 is misuse); std::bad_alloc. Either way nothing is left behind.
  explicit BasicMessageWorkers(const MessageWorkersOptions& options = {})
      : handlers_(new LateHandlers, &end<LateHandlers>),
        engine_(std::make_unique<detail::MessageEngine>(options, ops<LateHandlers>())) {}

  // Started. `handlers`: one visitor of all messages, or several functions; each message goes to
  // the one that takes it best (core/overloaded.hpp).
  template <class... Handlers>
    requires(sizeof...(Handlers) != 0)
  explicit BasicMessageWorkers(const MessageWorkersOptions& options, Handlers&&... handlers)
      : handlers_(new detail::Overloaded<Handlers...>{std::forward<Handlers>(handlers)...},
                  &end<detail::Overloaded<Handlers...>>),
        has_all_(true) {
    using Set = detail::Overloaded<Handlers...>;
    static_assert((detail::HandlerOf<Set, Messages>::is_there && ...));
    engine_ = std::make_unique<detail::MessageEngine>(options, ops<Set>());
    engine_->start(handlers_.get());
  }

  // What was moved from can only be assigned to, or end.
  BasicMessageWorkers(BasicMessageWorkers&&) noexcept = default;
  // Closes what it had, as the destructor does.
  BasicMessageWorkers& operator=(BasicMessageWorkers&& other) noexcept {
    engine_ = std::move(other.engine_);  // before the handlers that it runs
    handlers_ = std::move(other.handlers_);
    has_all_ = other.has_all_;
    return *this;
  }
  ~BasicMessageWorkers() = default;

  // ---- Handlers set later ----

  // Before start(); the last one of a message counts. Throws what copying it throws.
  template <class M, class Handler>
  void set_handler(Handler&& handler) {
    static_assert(detail::MessageAmong<Types, M>::is_there);
    static_assert(std::is_invocable_v<const std::decay_t<Handler>&, M&>,
                  "set_handler: the handler takes the message, and is const, as handlers are "
                  "called by several threads at once");
    if (has_all_) misuse("MessageWorkers: set_handler() after the handlers were given");
    auto& late = *static_cast<LateHandlers*>(handlers_.get());
    std::get<CopyableFunction<void(M&)>>(late.functions) = std::forward<Handler>(handler);
  }

  // Messages are handled from here on. Misuse if a handler is missing, and a second time. After a
  // close() there is nothing to handle.
  void start() {
    if (has_all_) misuse("MessageWorkers: start() of what has been started");
    const std::uint32_t missing = static_cast<const LateHandlers*>(handlers_.get())->missing();
    if (missing != sizeof...(Messages)) refuse_start(missing);
    // equivalent(swap): a flag that only the one thread asks which may call start()
    has_all_ = true;
    engine_->start(handlers_.get());
  }

  // ---- Messages ----

  // ok: accepted, and with OnFull::run_here perhaps handled already. closed; full (with
  // OnFull::reject).
  template <class M>
  Status publish(M&& message) {
    return hand_over({.on_full = engine_->on_full()}, std::forward<M>(message));
  }
  // Waits for room, whatever OnFull is: ok, closed, timed_out or stopped.
  template <class M>
  Status publish(M&& message, const Until& until) {
    return hand_over({.on_full = OnFull::wait, .until = &until}, std::forward<M>(message));
  }
  // Neither waits for room nor runs the handler here. ok, full or closed.
  template <class M>
  Status try_publish(M&& message) {
    return hand_over({.on_full = OnFull::reject}, std::forward<M>(message));
  }

  // Until the handler has run; throws what it threw. Without a key it runs here and now, beside the
  // workers; with one, in its order: here if nobody runs that key, else on the thread that does.
  // The message stays where it is (of a const one, a copy), and needs no room. ok, closed; stopped
  // or timed_out if a close dropped it. In a handler of the same key it is misuse. Handlers that
  // wait for each other's keys wait for ever, as with locks; a worker that waits for a key is
  // replaced meanwhile, 64 of them at a time.
  template <class M>
  Status publish_and_wait(M&& message) {
    using Message = std::remove_cvref_t<M>;
    static_assert(detail::MessageAmong<Types, Message>::is_there);
    if constexpr (std::is_const_v<std::remove_reference_t<M>>) {
      Message copy(message);
      return run_here(copy, key_of(copy), true);
    } else {
      return run_here(message, key_of(message), true);
    }
  }

  // ---- The workers ----

  // Until nothing is unfinished. The caller helps, if it may wait for ever. Rethrows the first
  // failure, since the last call, that neither on_error nor publish_and_wait() got. ok, timed_out
  // or stopped.
  Status wait(const Until& until = {}) { return engine_->wait(until); }

  // ok: no handler runs, none is half done, and none begins until resume(); the tally() stands
  // still but for what is accepted. timed_out, stopped: they go on as if nobody had asked. closed:
  // a close, which waits for no resume(), came first. If several threads pause, one resume() is
  // enough; it does not undo a pause() that is under way. A handler that waits for a message which
  // has not begun (its key, or a Future that it fulfils) keeps the pause waiting: give it a
  // deadline. (A pool's pause() waits for nothing: its tasks share no state that rests meanwhile.)
  Status pause(const Until& until = {}) { return engine_->pause(until); }
  // Handlers begin again.
  void resume() noexcept { engine_->resume(); }

  // See the head comment.
  Tally close(const Closing& closing = Closing::finish) { return engine_->close(closing); }

  // What became of the messages so far. Exact when nothing is being published and nothing runs.
  [[nodiscard]] Tally tally() const noexcept { return engine_->tally(); }

  // How many calls said `full`.
  [[nodiscard]] std::uint64_t refused() const noexcept { return engine_->refused(); }

  // How each worker is: whether its handler runs for too long, and whether its thread is there,
  // which the kernel is asked. Costs a system call a worker, and the workers nothing. A forked
  // child may call it, and nothing else.
  [[nodiscard]] HealthReport health() const { return engine_->health(); }

  // Messages that may be under way.
  [[nodiscard]] std::size_t capacity() const noexcept { return engine_->capacity(); }
  // Threads: what was asked for, or fewer where the system refused them.
  [[nodiscard]] std::size_t width() const noexcept { return engine_->width(); }

 private:
  template <class Handlers>
  static void end(void* handlers) noexcept {
    delete static_cast<Handlers*>(handlers);
  }

  template <class Handlers>
  static detail::MessageOps ops() noexcept {
    return {.handle =
                [](const void* handlers, const detail::MessageNode& node) {
                  const auto& call = *static_cast<const Handlers*>(handlers);
                  visit(node, [&call](auto& message) { detail::call_and_drop(call, message); });
                },
            .destroy =
                [](const detail::MessageNode& node) noexcept {
                  visit(node, [](auto& message) noexcept { std::destroy_at(&message); });
                  sync::given(sync::end_of(&node));
                },
            .name = &name_of,
            .bytes = detail::max<std::size_t>(1, sizeof(Messages)...),
            .alignment = detail::max<std::size_t>(1, alignof(Messages)...),
            .keyed = (kKeyed<Messages> || ...)};
  }

  template <class M>
  static constexpr std::uint32_t index_of() noexcept {
    return static_cast<std::uint32_t>(Types::template index<M>());
  }
  static const char* name_of(std::uint32_t type) noexcept {
    return Types::visit(type, [](auto of) noexcept {
      return detail::kPlainName<typename decltype(of)::type>.text;
    });
  }
  template <class Function>
  static void visit(const detail::MessageNode& node, const Function& function) {
    Types::visit(node.type, [&](auto of) {
      using Message = typename decltype(of)::type;
      function(*std::launder(static_cast<Message*>(node.message)));
    });
  }

  template <class M>
  static std::uint64_t key_of(const M& message) noexcept {
    if constexpr (kKeyed<M>) {
      return static_cast<std::uint64_t>(Policies::key(message));
    } else {
      return 0;
    }
  }

  template <class M>
  Status hand_over(const detail::MessageEngine::Wish& wish, M&& given) {
    using Message = std::remove_cvref_t<M>;
    static_assert(detail::MessageAmong<Types, Message>::is_there);
    if constexpr (!std::is_same_v<M, Message>) {
      return hand_over(wish, Message(given));  // a copy that throws does so before all else
    } else {
      const std::uint64_t key = key_of(given);  // user code: it comes before a place is taken
      const detail::MessageEngine::Place place = engine_->reserve(wish, kKeyed<Message>);
      if (place.run_here) return run_here(given, key, false);
      if (place.node == nullptr) return place.why;
      detail::MessageNode& node = *place.node;
      sync::taken(sync::end_of(&node));
      ::new (node.message) Message(std::forward<M>(given));
      // equivalent(swap): different members of a node that nobody else sees yet
      node.type = index_of<Message>();
      // equivalent(swap): different members of a node that nobody else sees yet
      node.keyed = kKeyed<Message>;
      node.key = key;
      engine_->hand_over(node);
      return Status::ok;
    }
  }

  template <class M>
  Status run_here(M& message, std::uint64_t key, bool tells) {
    return engine_->run_here(&message, index_of<M>(), kKeyed<M>, key, tells);
  }

  [[noreturn, gnu::cold]] static void refuse_start(std::uint32_t missing) {
    misuse((std::string("MessageWorkers: start() without a handler of the message ")
                .append(name_of(missing)))
               .c_str());
  }

  std::unique_ptr<void, void (*)(void*)> handlers_;
  std::unique_ptr<detail::MessageEngine> engine_;  // ends before them
  bool has_all_ = false;  // handlers; it is started
};

// Messages without keys.
template <class... Messages>
using MessageWorkers = BasicMessageWorkers<MessageWorkersPolicies, Messages...>;

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
