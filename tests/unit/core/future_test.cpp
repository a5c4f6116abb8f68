// SPDX-License-Identifier: MIT
//
// Future without a pool: results that come from elsewhere, what follows them, coroutines, and how a
// wait inside a task helps and lends, on an executor that the test plays.
#include <any>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>

#include "support/failing.hpp"
#include "support/future_host.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using detail::Outcome;
using detail::Promise;

// ---- From elsewhere -----------------------------------------------------------------------------

TEST(PromiseTest, GivesValuesOfAnyKind) {
  Future<std::string> text;
  Promise<std::string> of_text(text);
  EXPECT_TRUE(of_text.is_owed());
  EXPECT_FALSE(text.is_ready());
  of_text.set_value("made in its place");
  EXPECT_FALSE(of_text.is_owed());
  EXPECT_TRUE(text.is_ready());
  EXPECT_EQ(text.get(), "made in its place");
  EXPECT_FALSE(text.valid());
  EXPECT_THROW(text.get(), std::logic_error);

  Future<void> nothing;
  Promise<void>(nothing).set_value();
  nothing.get();

  int target = 0;
  Future<int&> reference;
  Promise<int&>(reference).set_value(target);
  EXPECT_EQ(&reference.get(), &target);

  Future<std::unique_ptr<int>> only_moved;
  Promise<std::unique_ptr<int>>(only_moved).set_value(std::make_unique<int>(4));
  EXPECT_EQ(*only_moved.get(), 4);
}

TEST(PromiseTest, GivesWhatWentWrong) {
  Future<int> failed;
  Promise<int>(failed).set_exception(std::make_exception_ptr(std::runtime_error("planned")));
  EXPECT_THROW((void)failed.get(), std::runtime_error);
  for (const Status why : {Status::stopped, Status::timed_out}) {
    Future<int> dropped;
    Promise<int>(dropped).drop(why);
    EXPECT_EQ(why_not_run(dropped), why);
  }
  Future<int> forgotten;
  {
    const Promise<int> promise(forgotten);
  }
  EXPECT_EQ(why_not_run(forgotten), Status::stopped);
  {
    const Promise<int> nobodys;
  }
}

struct ThrowsWhenMade {
  ThrowsWhenMade(int number) { throw number; }  // NOLINT(google-explicit-constructor)
};

TEST(PromiseTest, AValueThatCannotBeMadeIsAFailure) {
  Future<ThrowsWhenMade> future;
  Promise<ThrowsWhenMade>(future).set_value(5);
  EXPECT_THROW((void)future.get(), int);
}

// A std::any can be made of anything, and so of what makes it.
TEST(PromiseTest, AValueThatTakesAnythingIsOfferedTheValueAlone) {
  Future<std::any> future;
  Promise<std::any>(future).set_value(std::any(5));
  EXPECT_EQ(std::any_cast<int>(future.get()), 5);
}

TEST(PromiseTest, EitherSideMayEndFirst) {
  const auto token = std::make_shared<int>(1);
  using Token = std::shared_ptr<int>;
  {
    Future<Token> future;
    Promise<Token> promise(future);
    future = {};
    promise.set_value(token);
  }
  EXPECT_EQ(token.use_count(), 1);
  Future<Token> future;
  std::optional<Promise<Token>> promise(std::in_place, future);
  Promise<Token> moved = std::move(*promise);
  promise.reset();
  EXPECT_FALSE(future.is_ready());
  moved.set_value(token);
  EXPECT_EQ(token.use_count(), 2);
  EXPECT_EQ(future.get(), token);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(PromiseTest, AllocatesOnce) {
  const std::size_t before = test::calls(test::Call::allocation);
  Future<int> future;
  Promise<int> promise(future);
  promise.set_value(1);
  EXPECT_EQ(future.get(), 1);
  EXPECT_EQ(test::calls(test::Call::allocation) - before, 1U);
  test::until_whole(test::Call::allocation, 0, [] {
    Future<int> none;
    try {
      Promise<int> not_made(none);
      not_made.set_value(2);
      EXPECT_EQ(none.get(), 2);
    } catch (const std::bad_alloc&) {
      EXPECT_FALSE(none.valid());
    }
  });
}

TEST(PromiseTest, WakesWhoWaits) {
  for (std::size_t i = 0; i < test::rounds(300); ++i) {
    Future<std::size_t> future;
    Promise<std::size_t> promise(future);
    std::jthread maker([&] {
      if (i % 3 == 0) std::this_thread::yield();
      if (i % 7 == 0) std::this_thread::sleep_for(100us);  // the other one sleeps by then
      promise.set_value(i);
    });
    ASSERT_EQ(future.get(), i);
  }
}

TEST(PromiseTest, IsWaitedForWithADeadlineAndAStop) {
  Future<int> future;
  Promise<int> promise(future);
  EXPECT_EQ(future.wait(0ms), Status::timed_out);
  EXPECT_EQ(future.wait(1ms), Status::timed_out);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(future.wait(source.get_token()), Status::stopped);
  promise.set_value(3);
  EXPECT_EQ(future.wait(0ms), Status::ok);
  EXPECT_EQ(future.get(), 3);
}

// An operation that is the memory of its result.
struct Reading final : detail::OwedResult<std::size_t> {
  explicit Reading(int& ended) : ends(ended) {}
  ~Reading() { ++ends; }
  void destroy() noexcept override { delete this; }
  void complete(std::size_t bytes) {
    done = bytes;
    deliver([this] { return done; });
  }
  std::size_t done = 0;
  int& ends;
};

TEST(PromiseTest, AnOperationMayBeTheResultsMemory) {
  int ends = 0;
  auto* const whole = new Reading(ends);
  auto bytes = detail::FutureAccess::make<std::size_t>(whole);
  whole->complete(512);
  EXPECT_EQ(bytes.get(), 512U);
  EXPECT_EQ(ends, 1);
  auto* const broken = new Reading(ends);
  auto none = detail::FutureAccess::make<std::size_t>(broken);
  broken->fail(std::make_exception_ptr(5));
  EXPECT_THROW((void)none.get(), int);
  auto* const unasked = new Reading(ends);
  auto nobody = detail::FutureAccess::make<std::size_t>(unasked);
  nobody = {};
  EXPECT_EQ(ends, 2);
  unasked->drop(Status::timed_out);
  EXPECT_EQ(ends, 3);
}

// ---- What follows -------------------------------------------------------------------------------

TEST(FollowingTest, ThenRunsWhereTheResultComes) {
  Future<int> first;
  Promise<int> promise(first);
  std::thread::id where;
  auto next = std::move(first).then([&where](int n) {
    where = std::this_thread::get_id();
    return std::to_string(n);
  });
  EXPECT_FALSE(first.valid());
  EXPECT_FALSE(next.is_ready());
  std::thread maker([&] { promise.set_value(20); });
  const std::thread::id elsewhere = maker.get_id();
  maker.join();
  EXPECT_EQ(where, elsewhere);
  EXPECT_EQ(next.get(), "20");

  EXPECT_EQ(ready_future().then([] { return std::this_thread::get_id(); }).get(),
            std::this_thread::get_id());
  EXPECT_THROW((void)Future<int>().then([](int) {}), std::logic_error);
}

// The very exception goes down the chain: nothing is thrown on the way.
TEST(FollowingTest, FailuresArePassedOn) {
  struct Failure {};
  Future<int> failed;
  Promise<int> promise(failed);
  int ran = 0;
  auto last =
      std::move(failed).then([&ran](int n) { return n + ++ran; }).then([&ran](int) { ++ran; });
  const std::exception_ptr error = std::make_exception_ptr(Failure());
  const auto address = [](const std::exception_ptr& of) {
    try {
      std::rethrow_exception(of);
    } catch (const Failure& failure) {
      return &failure;
    }
  };
  promise.set_exception(error);
  const Failure* arrived = nullptr;
  try {
    last.get();
  } catch (const Failure& failure) {
    arrived = &failure;
  }
  EXPECT_EQ(arrived, address(error));
  EXPECT_EQ(ran, 0);

  Future<int> dropped;
  Promise<int>(dropped).drop(Status::timed_out);
  auto behind = std::move(dropped).then([&ran](int) { ++ran; }).then([&ran] { ++ran; });
  EXPECT_EQ(why_not_run(behind), Status::timed_out);
  EXPECT_EQ(ran, 0);
}

TEST(FollowingTest, BecomesAStandardFuture) {
  Future<int> value;
  Promise<int> promise(value);
  std::future<int> standard = std::move(value).to_std();
  EXPECT_EQ(standard.wait_for(0ms), std::future_status::timeout);
  promise.set_value(4);
  EXPECT_EQ(standard.get(), 4);
  Future<void> dropped;
  Promise<void>(dropped).drop(Status::stopped);
  EXPECT_THROW(std::move(dropped).to_std().get(), NotRun);
  EXPECT_THROW((void)failed_future<int>(std::make_exception_ptr(5)).to_std().get(), int);
  int target = 0;
  Future<int&> reference;
  Promise<int&>(reference).set_value(target);
  EXPECT_EQ(&std::move(reference).to_std().get(), &target);
  ready_future().to_std().get();
  EXPECT_THROW((void)Future<int>().to_std(), std::logic_error);
}

// Moves as long as it is told to.
struct Stubborn {
  explicit Stubborn(bool& its_will) : moves(its_will) {}
  Stubborn(Stubborn&& other) : moves(other.moves) {
    if (!moves) throw std::runtime_error("stays");
  }
  bool& moves;
};

TEST(FollowingTest, AResultThatDoesNotMoveIsAFailureOfTheStandardFuture) {
  bool moves = true;
  Future<Stubborn> value = ready_future(Stubborn(moves));
  moves = false;
  std::future<Stubborn> standard = std::move(value).to_std();
  EXPECT_THROW((void)standard.get(), std::runtime_error);
}

// ---- Waits inside tasks -------------------------------------------------------------------------

TEST(HelpTest, OutsideOfTasksNothingIsRun) {
  Host host;
  Future<int> future = host.submit([] { return 1; });
  EXPECT_EQ(future.wait(1ms), Status::timed_out);
  Place place(host);
  place.depth = 0;  // it only helps there
  std::thread maker([&host] {
    std::this_thread::sleep_for(1ms);
    host.run_all();
  });
  EXPECT_EQ(future.get(), 1);
  maker.join();
  EXPECT_TRUE(host.visits.empty());
  EXPECT_EQ(place.inside + place.lent, 0);
}

// ---- Who is lent --------------------------------------------------------------------------------

// A task of `host` that runs on another thread until it is told to end.
class RunningTask {
 public:
  explicit RunningTask(Host& host)
      : future(host.submit([this] {
          begun_ = true;
          while (!ends_) std::this_thread::yield();
          return 1;
        })),
        thread_([&host] { host.run_next(); }) {
    while (!begun_) std::this_thread::yield();
  }
  ~RunningTask() { thread_.join(); }
  void end() { ends_ = true; }

  Future<int> future;

 private:
  std::atomic<bool> begun_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// What follows is made on the thread that ended the source: of that one's executor.
TEST(LendingTest, WhatFollowsIsOfTheExecutorThatRunsIt) {
  for (const bool same : {true, false}) {
    Host host;
    Host other;
    Host& source = same ? host : other;
    std::atomic<bool> begun{false};
    std::atomic<bool> ends{false};
    auto next = source.submit([] { return 1; }).then([&](int n) {
      begun = true;
      while (!ends) std::this_thread::yield();
      return n + 1;
    });
    std::thread runs([&source] {
      const Place there(source);
      source.run_next();
    });
    while (!begun) std::this_thread::yield();
    std::thread ender;
    Place place(host);
    if (same) {
      ender = std::thread([&ends] {
        std::this_thread::sleep_for(5ms);
        ends = true;
      });
    } else {
      place.on_lent = [&ends] { ends = true; };
    }
    EXPECT_EQ(next.get(), 2);
    EXPECT_EQ(place.lent, same ? 0 : 1);
    EXPECT_EQ(place.returned, place.lent);
    runs.join();
    if (ender.joinable()) ender.join();
  }
}

// Of all that it hangs on, one is enough that is not made by the same executor.
TEST(LendingTest, AMixtureNeedsAStandIn) {
  Host host;
  Host other;
  for (const bool own_first : {true, false}) {
    RunningTask own(host);
    RunningTask foreign(other);
    std::vector<Future<int>> parts;
    parts.push_back(std::move(own_first ? own.future : foreign.future));
    parts.push_back(std::move(own_first ? foreign.future : own.future));
    auto all = when_all(std::move(parts));
    Place place(host);
    place.on_lent = [&] {
      own.end();
      foreign.end();
    };
    EXPECT_EQ(all.get().size(), 2U);
    EXPECT_EQ(place.lent, 1);
  }
}

// Each executor whose thread waits is asked for itself.
TEST(LendingTest, OnlyOtherExecutorsAreTold) {
  Host outer_host;
  Host inner_host;
  Host idle_host;
  RunningTask task(inner_host);
  Place outer(outer_host);
  Place idle(idle_host);
  idle.depth = 0;  // no task of it runs here
  const Place inner(inner_host);
  outer.on_lent = [&task] { task.end(); };
  EXPECT_EQ(task.future.get(), 1);
  EXPECT_EQ(outer.lent, 1);
  EXPECT_EQ(outer.returned, 1);
  EXPECT_EQ(idle.lent + inner.lent, 0);
}

TEST(LendingTest, NobodyIsLentForWhatIsThereSoon) {
  Host host;
  const Place place(host);
  EXPECT_EQ(ready_future(1).get(), 1);
  Future<int> with_deadline;
  const Promise<int> promise(with_deadline);
  EXPECT_EQ(with_deadline.wait(2ms), Status::timed_out) << "holds the worker up, as it says";
  EXPECT_EQ(place.lent, 0);
}

}  // namespace
