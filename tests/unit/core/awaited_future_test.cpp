// SPDX-License-Identifier: MIT
//
// Futures in coroutines, and as senders.
#include <handoff/core/internal/promise.hpp>

#include "support/failing.hpp"
#include "support/job.hpp"
#include "support/senders_model.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::Promise;
using test::Job;
namespace senders = test::senders;

// What a coroutine got.
template <class R>
struct Got {
  R value{};
  Status not_run = Status::ok;
  bool failed = false;
  std::thread::id where;
  std::atomic<bool> over{false};
};

template <class R>
Job await(Future<R> future, Got<R>& got) {
  try {
    got.value = co_await std::move(future);
  } catch (const NotRun& error) {
    got.not_run = error.status();
  } catch (const std::runtime_error&) {
    got.failed = true;
  }
  got.where = std::this_thread::get_id();
  got.over = true;
}

enum class Outcome { value, failure, stopped, timed_out };

void bring(Promise<int>& promise, Outcome outcome) {
  switch (outcome) {
    case Outcome::value: return promise.set_value(7);
    case Outcome::failure:
      return promise.set_exception(std::make_exception_ptr(std::runtime_error("planned")));
    case Outcome::stopped: return promise.drop(Status::stopped);
    case Outcome::timed_out: return promise.drop(Status::timed_out);
  }
}

// What goes on with each outcome, brought before it waits or by the call that it is given.
template <class Receive>
void with_each_outcome(Receive receive) {
  for (const bool before : {true, false}) {
    for (const Outcome outcome :
         {Outcome::value, Outcome::failure, Outcome::stopped, Outcome::timed_out}) {
      SCOPED_TRACE(testing::Message() << "outcome " << static_cast<int>(outcome) << ", "
                                      << (before ? "before" : "after"));
      Future<int> future;
      Promise<int> promise(future);
      if (before) bring(promise, outcome);
      receive(std::move(future), outcome, [&](bool over) {
        EXPECT_EQ(over, before);
        if (!before) bring(promise, outcome);
      });
    }
  }
}

TEST(AwaitTest, GoesOnWithEachOutcome) {
  with_each_outcome([](Future<int> future, Outcome outcome, auto bring_it) {
    Got<int> got;
    await(std::move(future), got);
    bring_it(got.over);
    EXPECT_TRUE(got.over);
    EXPECT_EQ(got.value, outcome == Outcome::value ? 7 : 0);
    EXPECT_EQ(got.failed, outcome == Outcome::failure);
    EXPECT_EQ(got.not_run, outcome == Outcome::stopped     ? Status::stopped
                           : outcome == Outcome::timed_out ? Status::timed_out
                                                           : Status::ok);
  });
}

TEST(AwaitTest, GoesOnWhereTheResultIsMade) {
  for (std::size_t i = 0; i < test::rounds(300); ++i) {
    Future<std::unique_ptr<int>> future;
    Promise<std::unique_ptr<int>> promise(future);
    Got<std::unique_ptr<int>> got;
    const bool before = i % 2 == 0;  // else at the same time
    if (before) await(std::move(future), got);
    std::thread maker([&promise] { promise.set_value(std::make_unique<int>(4)); });
    if (!before) await(std::move(future), got);
    const std::thread::id elsewhere = maker.get_id();
    maker.join();
    ASSERT_TRUE(got.over);
    ASSERT_EQ(*got.value, 4);
    if (before) {
      ASSERT_EQ(got.where, elsewhere);
    }
  }
}

Job await_both_ways(Future<int>& future, Future<void>& other, int& got) {
  got = co_await future;
  co_await other;
  ++got;
  try {
    (void)co_await future;
  } catch (const std::logic_error&) {
    ++got;
  }
}

TEST(AwaitTest, AFutureIsAwaitedOnce) {
  Future<int> future;
  Future<void> other;
  Promise<int> promise(future);
  Promise<void> of_other(other);
  int got = 0;
  await_both_ways(future, other, got);
  EXPECT_FALSE(future.valid()) << "from the moment on at which it is awaited";
  promise.set_value(10);
  EXPECT_EQ(got, 10);
  of_other.set_value();
  EXPECT_EQ(got, 12);
}

// What then() made is awaited like any other.
TEST(AwaitTest, AwaitsWhatFollows) {
  Future<int> future;
  Promise<int> promise(future);
  Got<std::string> got;
  await(std::move(future).then([](int n) { return std::to_string(n); }), got);
  promise.set_value(5);
  EXPECT_EQ(got.value, "5");
}

TEST(AwaitTest, TheCoroutineIsAllThatIsAllocated) {
  Future<int> future;
  Promise<int> promise(future);
  Got<int> got;
  const std::size_t before = test::calls(test::Call::allocation);
  await(std::move(future), got);
  promise.set_value(1);
  EXPECT_LE(test::calls(test::Call::allocation) - before, 1U);
  EXPECT_EQ(got.value, 1);
}

// A coroutine of std::execution: a stop is no exception, it ends it.
struct Stoppable {
  struct promise_type {
    Stoppable get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failed = true; }
    std::coroutine_handle<> unhandled_stopped() noexcept {
      stopped = true;
      return std::noop_coroutine();
    }
    bool stopped = false;
    bool failed = false;
  };
  std::coroutine_handle<promise_type> handle;
};
Stoppable await_stoppable(Future<int> future, int& got) { got = co_await future; }

TEST(AwaitTest, ACoroutineThatCanBeStoppedIs) {
  with_each_outcome([](Future<int> future, Outcome outcome, auto bring_it) {
    int got = 0;
    const Stoppable coroutine = await_stoppable(std::move(future), got);
    const auto& promise = coroutine.handle.promise();
    bring_it(promise.stopped || coroutine.handle.done());
    EXPECT_EQ(got, outcome == Outcome::value ? 7 : 0);
    EXPECT_EQ(promise.stopped, outcome == Outcome::stopped);
    EXPECT_EQ(promise.failed, outcome == Outcome::failure || outcome == Outcome::timed_out);
    EXPECT_EQ(coroutine.handle.done(), !promise.stopped);
    coroutine.handle.destroy();
  });
}

// ---- Senders ------------------------------------------------------------------------------------

template <class R>
using Sender = BasicFutureSender<senders::Words, R>;

// What it was told.
struct Told {
  int values = 0;
  int errors = 0;
  int stops = 0;
  int value = 0;
  std::thread::id where;
};
struct Receiver {
  using receiver_concept = senders::receiver_t;
  struct Env {
    std::stop_token query(senders::get_stop_token_t) const noexcept { return token; }
    std::stop_token token;
  };
  Env get_env() const noexcept { return {token}; }
  void set_value(int value) && noexcept {
    told->value = value;
    std::move(*this).set_value();
  }
  void set_value() && noexcept {
    ++told->values;
    told->where = std::this_thread::get_id();
  }
  void set_error(std::exception_ptr error) && noexcept {
    EXPECT_TRUE(error);
    ++told->errors;
  }
  void set_stopped() && noexcept { ++told->stops; }
  Told* told;
  std::stop_token token;
};

static_assert(senders::sender<Sender<int>>);
static_assert(senders::sender<Sender<void>>);
static_assert(senders::sender_to<Sender<int>, Receiver>);
static_assert(senders::sender_to<Sender<void>, Receiver>);
static_assert(
    std::is_same_v<Sender<int>::completion_signatures,
                   senders::completion_signatures<senders::set_value_t(int),
                                                  senders::set_error_t(std::exception_ptr),
                                                  senders::set_stopped_t()>>);
static_assert(std::is_same_v<decltype(Sender<void>::get_completion_signatures<>()),
                             senders::completion_signatures<
                                 senders::set_value_t(), senders::set_error_t(std::exception_ptr),
                                 senders::set_stopped_t()>>);

TEST(SenderTest, CompletesWhereTheResultIsMade) {
  Future<int> future;
  Promise<int> promise(future);
  Told told;
  auto operation = Sender<int>(std::move(future)).connect(Receiver{&told, {}});
  EXPECT_FALSE(future.valid());
  operation.start();
  EXPECT_EQ(told.values, 0);
  std::thread maker([&promise] { promise.set_value(6); });
  const std::thread::id elsewhere = maker.get_id();
  maker.join();
  EXPECT_EQ(told.values, 1);
  EXPECT_EQ(told.value, 6);
  EXPECT_EQ(told.where, elsewhere);
}

TEST(SenderTest, CompletesInStartIfTheResultIsThere) {
  Told told;
  auto operation = Sender<void>(ready_future()).connect(Receiver{&told, {}});
  EXPECT_EQ(told.values, 0);
  operation.start();
  EXPECT_EQ(told.values, 1);
  EXPECT_THROW(Sender<int>(Future<int>()), std::logic_error);
}

TEST(SenderTest, AFailureIsAnErrorAndADropAStop) {
  with_each_outcome([](Future<int> future, Outcome outcome, auto bring_it) {
    Told told;
    auto operation = Sender<int>(std::move(future)).connect(Receiver{&told, {}});
    operation.start();
    bring_it(told.values + told.errors + told.stops != 0);
    EXPECT_EQ(told.values, outcome == Outcome::value ? 1 : 0);
    EXPECT_EQ(told.errors, outcome == Outcome::failure || outcome == Outcome::timed_out ? 1 : 0);
    EXPECT_EQ(told.stops, outcome == Outcome::stopped ? 1 : 0);
  });
}

TEST(SenderTest, AStopBeforeTheStartIsHeard) {
  Future<int> future;
  Promise<int> promise(future);
  Told told;
  std::stop_source source;
  source.request_stop();
  auto operation = Sender<int>(std::move(future)).connect(Receiver{&told, source.get_token()});
  operation.start();
  EXPECT_EQ(told.stops, 1);
  promise.set_value(1);
  EXPECT_EQ(told.values, 0);
}

// Keeps what it is given.
struct Takes : senders::Unstopped {
  void set_value(int& value) && noexcept { *reference = &value; }
  void set_value(std::unique_ptr<int> value) && noexcept { *moved = std::move(value); }
  void set_error(std::exception_ptr) && noexcept { ADD_FAILURE(); }
  void set_stopped() && noexcept { ADD_FAILURE(); }
  int** reference;
  std::unique_ptr<int>* moved;
};
static_assert(senders::sender_to<Sender<int&>, Takes>);

TEST(SenderTest, ReferencesAndWhatIsOnlyMovedArrive) {
  int target = 0;
  int* reference = nullptr;
  std::unique_ptr<int> moved;
  Future<int&> first;
  Promise<int&>(first).set_value(target);
  auto one = Sender<int&>(std::move(first)).connect(Takes{{}, &reference, &moved});
  one.start();
  EXPECT_EQ(reference, &target);
  auto other = Sender<std::unique_ptr<int>>(ready_future(std::make_unique<int>(8)))
                   .connect(Takes{{}, &reference, &moved});
  other.start();
  ASSERT_TRUE(moved);
  EXPECT_EQ(*moved, 8);
}

TEST(SenderTest, AllocatesNothing) {
  Future<int> future;
  Promise<int> promise(future);
  Told told;
  const std::size_t before = test::calls(test::Call::allocation);
  auto operation = Sender<int>(std::move(future)).connect(Receiver{&told, {}});
  operation.start();
  promise.set_value(1);
  EXPECT_EQ(told.values, 1);
  EXPECT_EQ(test::calls(test::Call::allocation), before);
}

#if defined(HANDOFF_HAS_SENDERS)
TEST(SenderTest, WorksWithStandardAlgorithms) {
  namespace std_senders = detail::senders;
  static_assert(std_senders::sender<Sender<int>>);
  Future<int> future;
  Promise<int> promise(future);
  std::thread maker([&promise] { promise.set_value(2); });
  auto work = std::move(future).as_sender() | std_senders::then([](int n) { return n + 1; });
  EXPECT_EQ(std::get<0>(std_senders::sync_wait(std::move(work)).value()), 3);
  maker.join();
}
#endif

}  // namespace
