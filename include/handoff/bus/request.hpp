// SPDX-License-Identifier: MIT
//
// A message that is answered: Request<Question, Reply> is one of the types of the bus.
//
//   using LimitOf = handoff::Request<Sensor, Limit>;
//   handoff::MessageBus<Reading, LimitOf> bus;
//   handoff::Future<Limit> limit = bus.request<Limit>(Sensor{3}, 50ms);         // any thread
//   bus.drain(handoff::overloaded{[](const Reading& reading) { ... },           // the consumer
//                                 [](LimitOf& asked) { asked.reply(limit_of(asked.question)); }});
//
// For: asking the thread that owns the state. Not for: many answers to one question (a bus back).
// - Answered: by the first reply() or fail(), inside the handler or, by take_answer(), later and on
//   any thread. A further one says false.
// - Not answered: a request that is destroyed without an answer fails, and so does its Future:
//   NotRun, stopped. So it is when the handler does not answer, no handler is there, the bus is
//   closed with Closing::abandon, or is destroyed.
// - Late: a request whose Until has ended before its turn is not handed out: NotRun, timed_out (it
//   counts as expired) or stopped (as cancelled). That is seen when its turn comes. A caller that
//   cannot wait for that waits with a deadline: future.wait(50ms).
// - Refused: NotRun, full or closed, and the question is still the caller's.
// - Concurrency: a Request belongs to the consumer, an Answer to one thread at a time.
// - Allocates: request() once, for the Future.
// - Exceptions: of a handler that threw before it answered, the Future gets NotRun (stopped), and
//   the caller of drain() the exception.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <handoff/bus/detail/publishing.hpp>
#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// The reply end of a request. Move-only; its end without an answer is a failure.
template <class Reply>
class Answer {
 public:
  Answer() noexcept = default;  // owes nothing
  // For the asker.
  explicit Answer(detail::Promise<Reply> promise) noexcept : promise_(std::move(promise)) {}

  // False once it was given.
  [[nodiscard]] bool is_owed() const noexcept { return promise_.is_owed(); }

  // Gives the answer; false if one was given.
  template <class Value>
    requires std::is_convertible_v<Value, Reply>
  bool reply(Value&& value) noexcept {
    if (!is_owed()) return false;
    promise_.set_value(std::forward<Value>(value));
    return true;
  }
  bool reply() noexcept
    requires std::is_void_v<Reply>
  {
    if (!is_owed()) return false;
    promise_.set_value();
    return true;
  }
  // get() throws this; false if an answer was given. A null one is misuse.
  bool fail(std::exception_ptr error) {
    if (!is_owed()) return false;
    if (error == nullptr) misuse("Answer: fail() with no error; drop() if there is none to tell");
    promise_.set_exception(std::move(error));
    return true;
  }
  // get() throws NotRun with this; false if an answer was given. Status::ok is misuse.
  bool drop(Status why) {
    if (!is_owed()) return false;
    if (why == Status::ok) misuse("Answer: drop() with Status::ok; say why there is no answer");
    promise_.drop(why);
    return true;
  }

 private:
  detail::Promise<Reply> promise_;
};

// The message: a question, and the answer that is owed to the asker.
template <class Question, class Reply>
class Request {
  static_assert(std::is_object_v<Question> && !std::is_const_v<Question>,
                "a request asks by value");

 public:
  // What it is made of.
  using question_type = Question;
  using reply_type = Reply;

  // By request() of a bus; the question is made of `args`.
  template <class... Args>
  Request(Answer<Reply>&& answer, sync::Deadline deadline, sync::StopToken stop, Args&&... args)
      : question(std::forward<Args>(args)...),
        answer_(std::move(answer)),
        deadline_(deadline),
        stop_(std::move(stop)) {}

  // What is asked; a visitor may move from it.
  Question question;

  // As those of Answer. Const, since subscribers share the request: the first of them answers.
  template <class... Value>
  bool reply(Value&&... value) const noexcept {
    static_assert(
        requires(Answer<Reply>& answer) { answer.reply(std::forward<Value>(value)...); },
        "reply: takes what the request is declared to be answered with");
    return answer_.reply(std::forward<Value>(value)...);
  }
  bool fail(std::exception_ptr error) const { return answer_.fail(std::move(error)); }

  // To answer later.
  [[nodiscard]] Answer<Reply> take_answer() const noexcept { return std::move(answer_); }

  // Whether nobody waits for it any more, and how it then counts; done: somebody does.
  [[nodiscard]] detail::Outcome lapsed() const noexcept {
    if (stop_.stop_requested()) return detail::Outcome::cancelled;
    if (deadline_ != sync::no_deadline && sync::clock::now() >= deadline_) {
      return detail::Outcome::expired;
    }
    return detail::Outcome::done;
  }
  // Ends it so.
  void lapse(detail::Outcome why) const noexcept { answer_.drop(detail::reason_of(why)); }

 private:
  mutable Answer<Reply> answer_;
  sync::Deadline deadline_;
  sync::StopToken stop_;
};

namespace detail {

template <class Derived, class Core, class Policies>
template <class Reply, class Question>
Future<Reply> Publishing<Derived, Core, Policies>::request(Question&& question, const Given& given,
                                                           const Until& until) {
  using Asked = Request<std::remove_cvref_t<Question>, Reply>;
  static_assert(Types::template kHas<Asked>,
                "request: Request<Question, Reply> is none of the types of this bus");
  Future<Reply> future;
  Answer<Reply> answer{Promise<Reply>(future)};
  sync::StopToken stop = until.stop_token();
  const Status status = put<Asked>(&until, given, std::move(answer), until.deadline(),
                                   std::move(stop), std::forward<Question>(question));
  answer.drop(status);  // if it is still here
  return future;
}

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
