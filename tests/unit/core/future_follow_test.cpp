// SPDX-License-Identifier: MIT
//
// What follows a result: functions that return Futures, what stands in for a failure; tasks that
// are dropped, or asked to stop, by their Futures; and results that come too late.
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/timed_result.hpp>

#include "support/future_host.hpp"
#include "support/test.hpp"

namespace { namespace follow {

using namespace handoff;
using namespace test;
using detail::Outcome;
using detail::Promise;

// ---- A function that returns a Future -----------------------------------------------------------

TEST(ThenTest, AFutureOfAFutureIsOne) {
  Host host;
  auto sum = host.submit([] { return 1; }).then([&host](int one) {
    return host.submit([one] { return one + 1; });
  });
  static_assert(std::is_same_v<decltype(sum), Future<int>>);
  host.run_next();
  EXPECT_FALSE(sum.is_ready());
  host.run_next();
  EXPECT_EQ(sum.get(), 2);
}

TEST(ThenTest, AFutureThatIsReadyIsTakenAtOnce) {
  Host host;
  auto before = host.submit([] {});
  host.run_all();
  auto text = std::move(before).then([] { return ready_future(std::make_unique<int>(4)); });
  ASSERT_TRUE(text.is_ready());
  EXPECT_EQ(*text.get(), 4);
}

TEST(ThenTest, WhatFailsOnTheWayIsTheFailureOfTheWhole) {
  Host host;
  const auto fails = [&host](bool outer, bool inner) {
    return host
        .submit([outer] {
          if (outer) throw std::out_of_range("outer");
        })
        .then([&host, inner] {
          return host.submit([inner] {
            if (inner) throw std::domain_error("inner");
          });
        });
  };
  auto outer = fails(true, false);
  auto inner = fails(false, true);
  auto dropped = fails(false, false);
  for (int i = 0; i < 3; ++i) host.run_next();
  host.run_next();
  host.drop_all(Outcome::expired);
  EXPECT_THROW(outer.get(), std::out_of_range);
  EXPECT_THROW(inner.get(), std::domain_error);
  EXPECT_EQ(why_not_run(dropped), Status::timed_out);
}

TEST(ThenTest, AnEmptyFutureThatIsReturnedIsMisuse) {
  Host host;
  auto none = host.submit([] {}).then([] { return Future<int>(); });
  host.run_all();
  EXPECT_THROW((void)none.get(), std::logic_error);
}

TEST(ThenTest, ATaskThatWaitsRunsBoth) {
  Host host;
  const Place place(host);
  auto sum = host.submit([] { return 1; }).then([&host](int one) {
    return host.submit([one] { return one + 1; });
  });
  EXPECT_EQ(sum.get(), 2);
  EXPECT_EQ(host.visits.size(), 2U);
}

TEST(ThenTest, ALongChainOfThemNeedsNoDeepStack) {
  Host host;
  auto sum = host.submit([] { return 0; });
  for (int i = 0; i < 20'000; ++i) {
    sum = std::move(sum).then([](int before) { return ready_future(before + 1); });
  }
  host.run_all();
  EXPECT_EQ(sum.get(), 20'000);
}

// ---- In place of a failure ----------------------------------------------------------------------

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(OnFailureTest, GivesAnotherResult) {
  Host host;
  auto threw = host.submit([]() -> std::string { throw std::out_of_range("far"); });
  auto dropped = host.submit([] { return std::string("run"); });
  host.run_next();
  host.drop_all(Outcome::cancelled);
  EXPECT_EQ(std::move(threw).on_failure(&text_of).get(), "far");
  EXPECT_EQ(std::move(dropped).on_failure(&text_of).get(), "the task did not run: stopped");
}

TEST(OnFailureTest, LeavesAResultAlone) {
  Host host;
  int calls = 0;
  auto moved = host.submit([] { return std::make_unique<int>(3); })
                   .on_failure([&calls](const std::exception_ptr&) {
                     ++calls;
                     return nullptr;
                   });
  auto nothing = host.submit([] {}).on_failure([&calls](const std::exception_ptr&) { ++calls; });
  host.run_all();
  EXPECT_EQ(*moved.get(), 3);
  nothing.get();
  EXPECT_EQ(calls, 0);
}

TEST(OnFailureTest, MayFailItself) {
  Host host;
  auto fails =
      host.submit([]() -> int { throw std::out_of_range("far"); })
          .on_failure([](const std::exception_ptr&) -> int { throw std::domain_error("wide"); });
  host.run_all();
  EXPECT_THROW((void)fails.get(), std::domain_error);
}

// ---- Dropped by its Future ----------------------------------------------------------------------

TEST(CancelTest, DropsATaskThatHasNotBegun) {
  Host host;
  const auto held = std::make_shared<int>(1);
  auto task = host.submit([held] { return *held; });
  EXPECT_TRUE(task.cancel());
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(task.cancel());
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_EQ(why_not_run(task), Status::stopped);
  host.run_all();
  EXPECT_EQ(host.outcomes, std::vector{Outcome::elsewhere});
}

TEST(CancelTest, TellsWhatFollows) {
  Host host;
  auto task = host.submit([] { return 1; });
  Future<int> empty;
  EXPECT_FALSE(empty.cancel());
  auto copy = host.submit([] { return 1; });
  auto next = std::move(copy).then([](int one) { return one; });
  EXPECT_FALSE(next.cancel());  // no executor has it
  EXPECT_TRUE(task.cancel());
  auto after = std::move(task).then([](int one) { return one; });
  EXPECT_EQ(why_not_run(after), Status::stopped);
  host.run_all();
  EXPECT_EQ(next.get(), 1);
}

TEST(CancelTest, ATaskThatHasRunStays) {
  Host host;
  auto task = host.submit([] { return 1; });
  host.run_all();
  EXPECT_FALSE(task.cancel());
  EXPECT_EQ(task.get(), 1);
}

// ---- Asked to stop by its Future ----------------------------------------------------------------

// A task that asks its own Future, as somebody else would while it runs: whether it heard of it.
template <class Behind>
bool hears(const Behind& behind) {
  Host host;
  std::function<bool()> ask;
  bool heard = false;
  auto future = behind(host.submit([&](sync::StopToken stop) {
    EXPECT_FALSE(stop.stop_requested());
    EXPECT_TRUE(ask());
    EXPECT_FALSE(ask()) << "the second time";
    heard = stop.stop_requested();
    return 1;
  }));
  ask = [&future] { return future.request_stop(); };
  host.run_all();
  EXPECT_FALSE(ask()) << "it is over";
  return heard;
}

TEST(RequestStopTest, ARunningTaskHearsOfItThroughWhatFollows) {
  const auto twice = [](int n) { return 2 * n; };
  EXPECT_TRUE(hears([](Future<int> task) { return task; }));
  EXPECT_TRUE(hears([&](Future<int> task) { return std::move(task).then(twice); }));
  EXPECT_TRUE(hears([&](Future<int> task) {
    return when_all(ready_future(1), std::move(task).then(twice).then(twice));
  }));
  Future<int> never;
  const Promise<int> promise(never);
  EXPECT_TRUE(hears([&](Future<int> task) {
    return when_any(std::move(never), std::move(task).then(twice)).then([](FirstResult<int> first) {
      return first.value;
    });
  }));
  EXPECT_TRUE(hears([](Future<int> task) {
    return ready_future().then([task = std::move(task)]() mutable { return std::move(task); });
  }));
}

// An executor whose tasks the test runs, or drops.
struct Later {
  template <class F>
  Status try_post(F&& function) {
    tasks.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  static std::size_t width() { return 1; }
  void run_all() {
    while (!tasks.empty()) std::exchange(tasks, {}).front()();
  }
  std::vector<UniqueFunction<void()>> tasks;
};

TEST(RequestStopTest, ItGoesThroughExecutors) {
  const auto twice = [](int n) { return 2 * n; };
  InlineExecutor here;
  EXPECT_TRUE(hears([&](Future<int> task) { return std::move(task).then(here, twice); }));
  EXPECT_TRUE(hears([&](Future<int> task) {
    return when_all(std::move(task).then(here, twice).then(here, twice)).then([](const auto&) {});
  }));

  Host host;
  Later later;
  auto dropped = host.submit([] { return 1; }).then(later, twice).then(later, twice);
  EXPECT_TRUE(dropped.request_stop());
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_FALSE(dropped.request_stop());
  EXPECT_EQ(why_not_run(dropped), Status::stopped);
  EXPECT_TRUE(later.tasks.empty());

  sync::StopToken kept;
  auto over = host.submit([&kept](const sync::StopToken& stop) {
                    kept = stop;
                    return 1;
                  })
                  .then(later, twice);
  host.run_all();
  EXPECT_FALSE(over.request_stop()) << "its task is over";
  EXPECT_FALSE(kept.stop_requested());
  later.run_all();
  EXPECT_EQ(over.get(), 2);
}

// The arguments end before the result is ready, whichever thread looks at it.
TEST(ThenTest, NothingIsLeftBehindAnExecutor) {
  const auto held = std::make_shared<int>(1);
  Host host;
  InlineExecutor here;
  struct Copied {  // its move is a copy
    std::shared_ptr<int> one;
    explicit Copied(std::shared_ptr<int> given) : one(std::move(given)) {}
    Copied(const Copied&) = default;
  };
  auto next = host.submit([held] { return Copied(held); }).then(here, [](const Copied& copied) {
    return *copied.one;
  });
  host.run_all();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(next.get(), 1);
}

TEST(RequestStopTest, WhatHasNotBegunIsDropped) {
  Host host;
  auto all = when_all(host.submit([](const sync::StopToken&) {}), host.submit([] { return 1; }));
  EXPECT_TRUE(all.request_stop());
  EXPECT_EQ(host.visits, std::vector(2, Outcome::cancelled));
  ASSERT_TRUE(all.is_ready());
  EXPECT_FALSE(all.request_stop());
  EXPECT_EQ(why_not_run(all), Status::stopped);
  host.run_all();

  auto any = when_any(host.submit([] { return 1; }), host.submit([] { return 2; }));
  EXPECT_TRUE(any.request_stop());
  EXPECT_EQ(host.visits, std::vector(4, Outcome::cancelled)) << "the first wins, all are asked";
  EXPECT_EQ(why_not_run(any), Status::stopped);
  EXPECT_FALSE(Future<int>().request_stop());
}

TEST(RequestStopTest, ADecidedRaceAsksTheLosers) {
  Host host;
  auto first = host.submit([] { return 1; });  // compilers do not agree on the order of arguments
  auto any = when_any(std::move(first), host.submit([] { return 2; }));
  host.run_next();
  ASSERT_TRUE(any.is_ready());
  EXPECT_TRUE(any.request_stop());
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_EQ(any.get().value, 1);
}

TEST(RequestStopTest, ATaskThatTakesNoTokenGoesOn) {
  Host host;
  std::function<bool()> ask;
  auto future = host.submit([&] { return ask(); });
  ask = [&] { return future.request_stop(); };
  host.run_all();
  EXPECT_FALSE(future.get());
  Future<int> elsewhere;
  const Promise<int> promise(elsewhere);
  EXPECT_FALSE(elsewhere.request_stop());
}

TEST(RequestStopTest, OnlyWhatCannotDoWithoutIsGivenAToken) {
  Host host;
  auto sum = host.submit(
      [](const sync::StopToken& stop, int a, int b) { return stop.stop_possible() ? a + b : 0; }, 1,
      2);
  auto any_number = host.submit([](auto... all) { return sizeof...(all); }, 1, 2);
  auto its_own = host.submit([](const sync::StopToken& stop) { return stop.stop_possible(); },
                             sync::StopToken());
  auto moved = host.submit([](const sync::StopToken&, std::unique_ptr<int> one) { return one; },
                           std::make_unique<int>(7));
  host.run_all();
  EXPECT_EQ(sum.get(), 3);
  EXPECT_EQ(any_number.get(), 2U);
  EXPECT_FALSE(its_own.get());
  EXPECT_EQ(*moved.get(), 7);
}

TEST(RequestStopTest, ALongChainNeedsNoDeepStack) {
  Host host;
  auto sum = host.submit([] { return 0; });
  for (int i = 0; i < 100'000; ++i) sum = std::move(sum).then([](int n) { return n + 1; });
  EXPECT_TRUE(sum.request_stop());
  EXPECT_EQ(why_not_run(sum), Status::stopped);

  Later later;
  auto handed = host.submit([] { return 0; });
  for (int i = 0; i < 10'000; ++i) {
    handed = std::move(handed).then(later, [](int n) { return n + 1; });
  }
  EXPECT_TRUE(handed.request_stop());
  EXPECT_EQ(why_not_run(handed), Status::stopped);
}

// ---- Unless a timer is faster -------------------------------------------------------------------

// A timer that is played by the test.
struct Timer {
  std::function<void()>* kept = nullptr;
  bool cancel() const {
    *kept = nullptr;
    return true;
  }
};

template <class R>
Future<R> timed(Future<R> future, std::function<void()>& timer) {
  using Timed = detail::TimedResult<R, Timer>;
  return Timed::make(future, [&](typename Timed::Alarm alarm) {
    timer = [kept = std::make_shared<typename Timed::Alarm>(std::move(alarm))] { (*kept)(); };
    return Timer{&timer};
  });
}

TEST(TimedResultTest, AResultInTimeEndsTheTimer) {
  Host host;
  std::function<void()> timer;
  auto result = timed(host.submit([] { return std::make_unique<int>(1); }), timer);
  EXPECT_FALSE(result.is_ready());
  EXPECT_TRUE(timer);
  host.run_all();
  EXPECT_FALSE(timer);
  EXPECT_EQ(*result.get(), 1);

  auto failed = timed(host.submit([]() -> int { throw std::out_of_range("far"); }), timer);
  host.run_all();
  EXPECT_THROW((void)failed.get(), std::out_of_range);
  auto none = timed(host.submit([] {}), timer);
  host.drop_all(Outcome::cancelled);
  EXPECT_EQ(why_not_run(none), Status::stopped);
  EXPECT_FALSE(timer);
}

TEST(TimedResultTest, ALateResultEndsUnreadAndItsTaskIsAskedToStop) {
  Host host;
  std::function<void()> timer;
  const auto held = std::make_shared<int>(1);
  bool heard = false;
  auto result = timed(host.submit([&, held](const sync::StopToken& stop) {
    timer();
    heard = stop.stop_requested();
    return held;
  }),
                      timer);
  host.run_next();
  EXPECT_TRUE(heard);
  EXPECT_EQ(why_not_run(result), Status::timed_out);
  timer = nullptr;
  EXPECT_EQ(held.use_count(), 1);

  auto not_begun = timed(host.submit([] {}), timer);
  timer();
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_EQ(why_not_run(not_begun), Status::timed_out);
}

// A timer whose call comes later than its moment.
struct SlowTimer {
  bool cancel() const { return false; }
};
using SlowlyTimed = detail::TimedResult<int, SlowTimer>;

Future<int> timed(Future<int> future, std::optional<SlowlyTimed::Alarm>& alarm) {
  return SlowlyTimed::make(future, [&](SlowlyTimed::Alarm given) {
    alarm.emplace(std::move(given));
    return SlowTimer();
  });
}

TEST(TimedResultTest, TheMomentEndsAWaitAndTheCallDoesTheRest) {
  Host host;
  std::optional<SlowlyTimed::Alarm> alarm;
  bool heard = false;
  auto begun = timed(host.submit([&](const sync::StopToken& stop) {
    alarm->moment_comes();
    alarm->moment_comes();  // offered again
    heard = stop.stop_requested();
    return 1;
  }),
                     alarm);
  host.run_next();
  EXPECT_TRUE(heard);
  ASSERT_TRUE(begun.is_ready());
  EXPECT_EQ(why_not_run(begun), Status::timed_out);
  (*alarm)();
  alarm.reset();

  auto not_begun = timed(host.submit([] { return 1; }), alarm);
  alarm->moment_comes();
  EXPECT_EQ(why_not_run(not_begun), Status::timed_out);
  EXPECT_TRUE(host.visits.empty()) << "its closure ends on no thread of timers";
  (*alarm)();
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  alarm.reset();
}

TEST(TimedResultTest, WhatFollowsComesWithTheCall) {
  for (const bool is_called : {true, false}) {
    Host host;
    std::optional<SlowlyTimed::Alarm> alarm;
    int followed = 0;
    auto result = timed(host.submit([] { return 1; }), alarm).on_failure([&](const auto&) {
      return ++followed;
    });
    alarm->moment_comes();
    EXPECT_EQ(followed, 0);
    if (is_called) (*alarm)();
    alarm.reset();
    EXPECT_EQ(followed, 1);
    EXPECT_EQ(result.get(), 1);
  }
}

// Its source becomes ready while the stop is under way: the function is none for that thread.
TEST(TimedResultTest, WhatBecomesReadyInTheMomentIsMadeByTheCall) {
  Host host;
  std::optional<SlowlyTimed::Alarm> alarm;
  std::optional<sync::StopCallback> in_the_moment;
  std::atomic<bool> begun{false};
  std::atomic<bool> has_run{false};
  int followed = 0;
  auto task = host.submit([&](const sync::StopToken& stop) {
    const auto until_it_has_run = [](void* flag) noexcept {
      while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
    };
    in_the_moment.emplace(stop, until_it_has_run, &has_run);
    begun = true;
    while (!stop.stop_requested()) std::this_thread::yield();
    return 1;
  });
  auto result = timed(std::move(task).then([&](int n) { return followed += n; }), alarm);
  std::thread runner([&] {
    host.run_next();
    has_run = true;
  });
  while (!begun) std::this_thread::yield();
  alarm->moment_comes();
  runner.join();
  EXPECT_EQ(why_not_run(result), Status::timed_out);
  EXPECT_EQ(followed, 0);
  (*alarm)();
  EXPECT_EQ(followed, 1) << "unread";
  alarm.reset();
}

TEST(TimedResultTest, ATimerThatEndsUncalledIsAStop) {
  Host host;
  std::function<void()> timer;
  auto result = timed(host.submit([] { return 1; }), timer);
  timer = nullptr;
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_EQ(why_not_run(result), Status::stopped);
  auto asked = timed(host.submit([] { return 1; }), timer).then([](int n) { return n; });
  EXPECT_TRUE(asked.request_stop());
  EXPECT_EQ(why_not_run(asked), Status::stopped);
}

TEST(TimedResultTest, WithoutATimerTheFutureIsAsItWas) {
  using Timed = detail::TimedResult<int, Timer>;
  Host host;
  const auto held = std::make_shared<int>(1);
  auto task = host.submit(
      [held](const sync::StopToken& stop) { return stop.stop_requested() ? 0 : *held; });
  const auto refuse = [](const Timed::Alarm& /*alarm*/) -> Timer { throw std::bad_alloc(); };
  EXPECT_THROW((void)Timed::make(task, refuse), std::bad_alloc);
  ASSERT_TRUE(task.valid());
  host.run_all();
  EXPECT_EQ(task.get(), 1) << "not asked to stop";

  auto lost = host.submit([held] { return *held; });
  const auto lose = [](Timed::Alarm /*alarm*/) -> Timer { throw std::bad_alloc(); };
  EXPECT_THROW((void)Timed::make(lost, lose), std::bad_alloc);
  EXPECT_FALSE(lost.valid());
  EXPECT_EQ(host.visits, std::vector{Outcome::cancelled});
  EXPECT_EQ(held.use_count(), 1);
}

}}  // namespace ::follow
