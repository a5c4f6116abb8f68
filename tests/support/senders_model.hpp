// SPDX-License-Identifier: MIT
//
// What of std::execution a scheduler or a Future meets, small: the concepts as the draft of C++26
// has them, and two algorithms, `then` and `sync_wait`. For tests where no such library is
// installed.
#pragma once

#include "support/test.hpp"

namespace handoff::test::senders {

struct scheduler_t {};
struct sender_t {};
struct receiver_t {};
struct operation_state_t {};
struct set_value_t {};
struct set_error_t {};
struct set_stopped_t {};
template <class... Signatures>
struct completion_signatures {};
struct get_forward_progress_guarantee_t {};
template <class Tag>
struct get_completion_scheduler_t {};
struct get_stop_token_t {};
enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };

template <class T>
concept queryable = std::destructible<T>;

template <class R>
concept receiver = std::derived_from<typename R::receiver_concept, receiver_t> &&
                   std::move_constructible<R> && requires(const R& r) {
                     { r.get_env() } -> queryable;
                   };

template <class O>
concept operation_state =
    std::derived_from<typename O::operation_state_concept, operation_state_t> && requires(O& o) {
      { o.start() } noexcept;
    };

template <class S>
concept sender = std::derived_from<typename S::sender_concept, sender_t> &&
                 std::move_constructible<S> && requires(const S& s) {
                   { s.get_env() } -> queryable;
                   S::template get_completion_signatures<S>();
                 };

template <class S, class R>
concept sender_to = sender<S> && receiver<R> && requires(S&& s, R&& r) {
  { std::move(s).connect(std::move(r)) } -> operation_state;
};

template <class S>
concept scheduler =
    std::derived_from<typename S::scheduler_concept, scheduler_t> && queryable<S> &&
    std::equality_comparable<S> && std::is_nothrow_copy_constructible_v<S> && requires(const S& s) {
      { s.schedule() } -> sender;
      {
        s.schedule().get_env().query(get_completion_scheduler_t<set_value_t>{})
      } -> std::same_as<S>;
    };

// What BasicPoolScheduler and BasicFutureSender ask for.
struct Words {
  using scheduler_t = senders::scheduler_t;
  using sender_t = senders::sender_t;
  using operation_state_t = senders::operation_state_t;
  using get_forward_progress_guarantee_t = senders::get_forward_progress_guarantee_t;
  template <class Tag>
  using get_completion_scheduler_t = senders::get_completion_scheduler_t<Tag>;
  template <class... Values>
  using completion_signatures =
      senders::completion_signatures<set_value_t(Values...), set_error_t(std::exception_ptr),
                                     set_stopped_t()>;
  static constexpr auto parallel = forward_progress_guarantee::parallel;

  template <class R>
  static bool stop_requested(const R& receiver) noexcept {
    return receiver.get_env().query(get_stop_token_t{}).stop_requested();
  }
  template <class R, class... Values>
  static void set_value(R&& receiver, Values&&... values) noexcept {
    std::forward<R>(receiver).set_value(std::forward<Values>(values)...);
  }
  template <class R>
  static void set_error(R&& receiver, std::exception_ptr error) noexcept {
    std::forward<R>(receiver).set_error(std::move(error));
  }
  template <class R>
  static void set_stopped(R&& receiver) noexcept {
    std::forward<R>(receiver).set_stopped();
  }
};

// The base of a receiver that nothing stops.
struct Unstopped {
  using receiver_concept = receiver_t;
  struct Env {
    std::stop_token query(get_stop_token_t) const noexcept { return {}; }
  };
  Env get_env() const noexcept { return {}; }
};

// The result of the function, or what it threw.
template <class S, class F>
struct Then {
  using sender_concept = sender_t;
  using value_type = std::invoke_result_t<F&>;

  template <class R>
  struct Receiver {
    using receiver_concept = receiver_t;
    auto get_env() const noexcept { return receiver.get_env(); }
    void set_value() && noexcept {
      try {
        std::move(receiver).set_value(function());
      } catch (...) {
        std::move(receiver).set_error(std::current_exception());
      }
    }
    void set_error(std::exception_ptr error) && noexcept {
      std::move(receiver).set_error(std::move(error));
    }
    void set_stopped() && noexcept { std::move(receiver).set_stopped(); }
    R receiver;
    F function;
  };

  template <class... Any>
  static consteval completion_signatures<set_value_t(value_type), set_stopped_t()>
  get_completion_signatures() {
    return {};
  }
  auto get_env() const noexcept { return before.get_env(); }
  template <class R>
  auto connect(R receiver) const {
    return before.connect(Receiver<R>{std::move(receiver), function});
  }
  S before;
  F function;
};
template <sender S, class F>
Then<S, F> then(S before, F function) {
  return {std::move(before), std::move(function)};
}

// nullopt: stopped.
template <class T>
struct Result {
  std::optional<T> value;
  std::exception_ptr error;
  std::atomic<bool> over{false};
};
template <class T>
struct WaitReceiver {
  using receiver_concept = receiver_t;
  struct Env {
    std::stop_token query(get_stop_token_t) const noexcept { return token; }
    std::stop_token token;
  };
  Env get_env() const noexcept { return {token}; }
  void set_value(T value) && noexcept {
    result->value = std::move(value);
    finish();
  }
  void set_error(std::exception_ptr error) && noexcept {
    result->error = std::move(error);
    finish();
  }
  void set_stopped() && noexcept { finish(); }
  // Once it is over this receiver may be gone: what notify_all() needs is held here.
  void finish() const noexcept {
    const std::shared_ptr<Result<T>> held = result;
    held->over = true;
    held->over.notify_all();
  }
  std::shared_ptr<Result<T>> result;
  std::stop_token token;
};
template <class S>
auto sync_wait(const S& work, std::stop_token token = {}) {
  using T = typename S::value_type;
  static_assert(sender_to<S, WaitReceiver<T>>);
  const auto result = std::make_shared<Result<T>>();
  auto operation = work.connect(WaitReceiver<T>{result, std::move(token)});
  operation.start();
  result->over.wait(false);
  if (result->error) std::rethrow_exception(result->error);
  return std::move(result->value);
}

}  // namespace handoff::test::senders
