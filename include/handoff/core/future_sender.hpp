// SPDX-License-Identifier: MIT
//
// A Future as a sender of std::execution (P2300).
//
//   auto work = pool.submit(read, path).as_sender() | stdexec::then(parse);
//   auto [text] = stdexec::sync_wait(std::move(work)).value();
//
// Every awaitable is a sender in std::execution, and a Future is awaitable. Algorithms then make a
// coroutine, which allocates; as_sender() gives a sender that does not. It is there where a library
// with senders is (sender_words.hpp).
//
// Contract: executor tier.
// - Concurrency: one Future, one sender, one operation. Connect it as an rvalue.
// - Completion: set_value(result), or set_value() for void; set_stopped() for a task that was
//   cancelled, and in start() if the receiver's stop token has been asked to stop;
//   set_error(std::exception_ptr) for what the task threw, and for one that expired (NotRun,
//   timed_out). On the thread that makes the result, or in start() if it is ready.
// - Eager: the task runs whether the operation is started or not. A stop that comes after start()
//   has no effect.
// - Blocks, allocates: nothing.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/sender_words.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

template <class Words, class R>
struct FutureSignatures {
  using type = typename Words::template completion_signatures<R>;
};
template <class Words>
struct FutureSignatures<Words, void> {
  using type = typename Words::template completion_signatures<>;
};

}  // namespace detail

// `Words`: see StandardWords.
template <class Words, class R>
class BasicFutureSender {
 public:
  using sender_concept = typename Words::sender_t;
  using completion_signatures = typename detail::FutureSignatures<Words, R>::type;

  // Empty: where it completes is not known beforehand.
  struct Env {};

  // A connected receiver. It stays where it is.
  template <class Receiver>
  class Operation {
   public:
    using operation_state_concept = typename Words::operation_state_t;

    // For connect().
    Operation(detail::StateOwner<R> state, Receiver receiver)
        : state_(std::move(state)), receiver_(std::move(receiver)) {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    // Once. May complete, and this may be gone, before it returns.
    void start() & noexcept {
      if (Words::stop_requested(receiver_)) {
        // equivalent(delete): the end of the operation gives it back, if this does not
        state_.reset();
        return Words::set_stopped(std::move(receiver_));
      }
      detail::FutureState& state = *state_;
      sync::given(this);
      state.continue_with({&call, this});
    }

   private:
    static detail::FutureState::Next call(void* self) noexcept {
      sync::taken(self);
      static_cast<Operation*>(self)->complete();
      return {};
    }
    void complete() noexcept {
      const detail::StateOwner<R> state = std::move(state_);
      if (state->not_run() == Status::stopped) return Words::set_stopped(std::move(receiver_));
      if (state->has_failed()) return Words::set_error(std::move(receiver_), state->failure());
      if constexpr (std::is_void_v<R>) {
        Words::set_value(std::move(receiver_));
      } else {
        Words::set_value(std::move(receiver_), state->result());
      }
    }

    detail::StateOwner<R> state_;
    Receiver receiver_;
  };

  // Takes the Future; an empty one is misuse.
  explicit BasicFutureSender(Future<R>&& future) : state_(detail::FutureAccess::release(future)) {}

  template <class... Any>
  static consteval completion_signatures get_completion_signatures() noexcept {
    return {};
  }
  Env get_env() const noexcept { return {}; }

  template <class Receiver>
  Operation<Receiver> connect(Receiver receiver) && {
    return Operation<Receiver>(std::move(state_), std::move(receiver));
  }

 private:
  detail::StateOwner<R> state_;
};

#if defined(HANDOFF_HAS_SENDERS)

template <class R>
auto Future<R>::as_sender() && {
  return BasicFutureSender<StandardWords, R>(std::move(*this));
}

#endif

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
