// SPDX-License-Identifier: MIT
//
// A state with a thread of its own: others send it messages, and it handles one after the other.
//
//   struct Average {                                     // the state; only its thread touches it
//     void operator()(const Reading& reading) { sum += reading.value; ++count; }
//     void operator()(const Reset&) { sum = 0; count = 0; }
//     double sum = 0;
//     int count = 0;
//   };
//   handoff::ActiveObject<Average, Reading, Reset> average({.name = "average"});
//   handoff::Status s = average.publish(Reading{7, 21.5});                // any thread
//   handoff::Tally tally = average.close();                               // all is handled
//   double sum = average.state().sum;                                     // and here is the result
//
// For: components that own what they change, without a lock. Not for: messages that several threads
// could handle at once (MessageWorkers).
//
// Contract: executor tier. It is a MessageBus, its consumer's thread, and the state.
// - Concurrency: thread-safe, except state(), and the destructor, which comes last. In a handler of
//   the state itself close() and destruction are misuse.
// - Order: that of the bus: one for all senders, FIFO for each, and causal between them. The
//   constructor happens before the first handler, each handler before the next one, and the last
//   one before close() returns.
// - Blocks: publish() while the bus is full, if on_full says wait, as long as its Until says;
//   without one, for ever. Not in a handler of the state itself: there it says full. try_publish()
//   never. close().
// - Idle: the thread spins, for `spin_for` or some microseconds, then sleeps at no cost.
// - Allocates: the constructor; request().
// - Full: some places may be kept for urgent messages (message_bus.hpp). What is refused is
//   unmoved. Objects that send to each other in a circle, each with a full bus, wait for
//   each other: in one of them use try_publish(), or an Until.
// - Closed: after shut() or close() publish() says `closed`.
// - Closing: close(Closing::finish) handles all, close(Closing::finish_until(t)) what can begin
//   until t, close(Closing::abandon) no more than what has begun; each ends the thread and returns
//   the exact Tally. A second close() returns the same. The destructor finishes.
// - Exceptions: one that leaves a handler goes to on_error; without that it is unheard
//   (core/on_unheard.hpp). Its message counts as failed, and the thread goes on with the next one.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <handoff/bus/active_object_options.hpp>
#include <handoff/bus/admission.hpp>
#include <handoff/bus/detail/publishing.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
template <class State, class M>
struct StateHandles {
  static_assert(std::is_invocable_v<State&, M&>, "ActiveObject: the state takes each message");
  static constexpr bool is_so = true;
};
}  // namespace detail

template <class State, class... Messages>
class ActiveObject {
  static_assert((detail::StateHandles<State, Messages>::is_so && ...));
  using Bus = MessageBus<Messages...>;

 public:
  // The state is made of the arguments, here. Throws what that throws, std::system_error if the
  // system refuses the thread, std::bad_alloc, and as the bus does for options that make none.
  template <class... Args>
  explicit ActiveObject(const ActiveObjectOptions& options = {}, Args&&... args)
      : name_(options.name),
        on_error_(options.on_error),
        state_(std::forward<Args>(args)...),
        bus_({.capacity = options.capacity,
              .on_full = options.on_full,
              .reserve = options.reserve,
              .spin_for = options.spin_for}),
        thread_({.name = options.name, .cpu = options.cpu}, [this]() noexcept { serve(); }) {}
  ~ActiveObject() { (void)close(Closing::finish); }
  ActiveObject(const ActiveObject&) = delete;
  ActiveObject& operator=(const ActiveObject&) = delete;

  // ---- Sending: as those of the bus ----

  // Waits for room until `until`, if on_full says so: ok, full (also in a handler of the state
  // itself), closed, timed_out, stopped.
  template <class M>
  Status publish(M&& message, Admission admission = Admission::normal,
                 const Until& until = detail::kForEver) {
    return bus_.publish(std::forward<M>(message), admission, until);
  }
  template <class M>
  Status publish(M&& message, const Until& until) {
    return bus_.publish(std::forward<M>(message), until);
  }
  // Never waits: ok, full, closed.
  template <class M>
  Status try_publish(M&& message, Admission admission = Admission::normal) {
    return bus_.try_publish(std::forward<M>(message), admission);
  }
  // The Future of a Reply, where Request<Question, Reply> is one of the messages; include
  // <handoff/bus/request.hpp>.
  template <class Reply, class Question>
  auto request(Question&& question, const Until& until = {}) {
    return bus_.template request<Reply>(std::forward<Question>(question), until);
  }

  // ---- The object ----

  // By any thread: nothing that begins after this is accepted; what is there is handled.
  void shut() noexcept { bus_.shut(); }

  // See the head comment.
  Tally close(const Closing& closing = Closing::finish) {
    if (thread_here_.get() == sync::this_thread_id()) {
      misuse("ActiveObject: closed or destroyed inside one of its own handlers");
    }
    const sync::Lock lock(closing_mutex_);
    if (!is_over_) {
      closing_ = closing;
      sync::given(&closing_);
      bus_.shut();  // equivalent(swap): the thread, once it is told, shuts the bus itself
      stop_.request_stop();
      thread_.join();
      thread_here_.set(nullptr);
      is_over_ = true;
    }
    return bus_.tally();
  }

  // Exact when nothing is being sent and nothing is handled.
  [[nodiscard]] Tally tally() const noexcept { return bus_.tally(); }

  // See ActiveObjectOptions.
  [[nodiscard]] std::size_t capacity() const noexcept { return bus_.capacity(); }
  // Messages that wait, the one that is handled among them; a figure of the moment.
  [[nodiscard]] std::size_t size() const noexcept { return bus_.size(); }
  [[nodiscard]] bool empty() const noexcept { return bus_.empty(); }

  // After close(); before, it is its thread's alone, and asking is misuse.
  [[nodiscard]] State& state() {
    const sync::Lock lock(closing_mutex_);
    if (!is_over_) misuse("ActiveObject: state() before close(): it is its thread's");
    return state_;
  }

 private:
  void serve() noexcept {
    const sync::StopToken stop = stop_.token();
    thread_here_.set(sync::this_thread_id());
    const auto handler = [this, &stop](auto& message) {
      // From inside, so that the drain under way does as the close says.
      if (stop.stop_requested()) [[unlikely]] {
        sync::taken(&closing_);
        (void)bus_.close(closing_);
        if (bus_.core().ends(message)) return;
      }
      handle(message);
    };
    while (!stop.stop_requested() && bus_.wait(stop) == Status::ok) {
      (void)detail::attempt([&] { (void)bus_.drain(handler); });
    }
    // Without a stop it was shut, and all is handled.
    sync::taken(&closing_);
    if (stop.stop_requested()) (void)bus_.close_by(closing_, [&] { bus_.drain(handler); }, [] {});
  }

  template <class M>
  void handle(M& message) {
    std::exception_ptr failure;
    if (detail::attempt([&] { detail::call_and_drop(state_, message); },
                        [&failure]() noexcept { failure = std::current_exception(); })) {
      return;
    }
    on_error_ ? on_error_(failure) : tell_unheard<M>(failure);
    std::rethrow_exception(std::move(failure));  // to the bus, which counts it
  }

  template <class M>
  [[gnu::cold]] void tell_unheard(const std::exception_ptr& failure) const noexcept {
    const bool has_name = name_ != ActiveObjectOptions{}.name;
    detail::unheard(failure, {.type = "ActiveObject",
                              .name = has_name ? std::string_view(name_)
                                               : detail::name_in(detail::type_name<State>()),
                              .the = "the handler of",
                              .own = detail::name_in(detail::type_name<M>()),
                              .remedy = "set on_error, or catch it there"});
  }

  const std::string name_;
  const CopyableFunction<void(const std::exception_ptr&)> on_error_;
  State state_;
  Bus bus_;
  sync::StopSource stop_;
  // order: the own thread finds what it wrote, and others something else.
  sync::relaxed<sync::ThreadId> thread_here_;
  sync::Mutex closing_mutex_;
  Closing closing_;  // written before the stop
  bool is_over_ = false;
  sync::Thread thread_;  // begins last
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
