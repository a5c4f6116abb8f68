// SPDX-License-Identifier: MIT
//
// A loop's tasks: when they run, when the descriptor is readable, failures, the end; and what
// follows a result on an executor.
#include <poll.h>

#include "support/filtered_calls.hpp"
#include "support/test.hpp"

namespace handoff_loop_executor_test { namespace {

using namespace handoff;

using namespace std::chrono_literals;

bool is_readable(LoopExecutor& loop) {
  pollfd one{.fd = loop.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(LoopExecutor, WhatComesDuringADrainWaitsForTheNext) {
  LoopExecutor loop;
  int ran = 0;
  loop.post([&] {
    loop.post([&] { ran = 2; });
    ran = 1;
  });
  EXPECT_EQ(loop.drain(), 1U);
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(is_readable(loop));
  EXPECT_EQ(loop.drain(), 1U);
  EXPECT_EQ(ran, 2);
  EXPECT_FALSE(is_readable(loop));
}

TEST(LoopExecutor, TheDescriptorIsReadableWhileThereIsSomething) {
  LoopExecutor loop;
  loop.post([] {});  // before there is one
  EXPECT_TRUE(is_readable(loop));
  (void)loop.drain();
  EXPECT_FALSE(is_readable(loop));
  loop.post([] {});
  loop.post([] {});
  EXPECT_TRUE(is_readable(loop));
  EXPECT_EQ(loop.drain_for(0s), 1U) << "it is not to stand still";
  EXPECT_TRUE(is_readable(loop));
  EXPECT_EQ(loop.drain_for(1h), 1U);
  EXPECT_FALSE(is_readable(loop));
  loop.shut();
  EXPECT_TRUE(is_readable(loop)) << "the owner is to look";
  (void)loop.drain();
  EXPECT_FALSE(is_readable(loop));
}

// As a dialog does: a loop in a task, which has the rest and what comes.
TEST(LoopExecutor, ATaskMayDrain) {
  LoopExecutor loop;
  std::vector<int> ran;
  loop.post([&] {
    EXPECT_TRUE(is_readable(loop));
    EXPECT_EQ(loop.drain(), 1U);
    EXPECT_FALSE(is_readable(loop));
    EXPECT_EQ(loop.wait(1ms), Status::timed_out);
    std::thread other([&] { loop.post([&] { ran.push_back(2); }); });
    EXPECT_EQ(loop.wait(), Status::ok);
    other.join();
    EXPECT_TRUE(is_readable(loop));
    EXPECT_EQ(loop.drain(), 1U);
    ran.push_back(3);
  });
  loop.post([&] { ran.push_back(1); });
  EXPECT_EQ(loop.drain(), 1U);
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(is_readable(loop));
}

TEST(LoopExecutor, AFailureLeavesTheDrainAndTheRestStays) {
  LoopExecutor loop;
  int ran = 0;
  loop.post([] { throw std::runtime_error("a task"); });
  loop.post([&] { ++ran; });
  EXPECT_THROW((void)loop.drain(), std::runtime_error);
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(is_readable(loop));
  EXPECT_EQ(loop.wait(), Status::ok);
  EXPECT_EQ(loop.drain(), 1U);
  Future<void> future = loop.submit([] { throw std::runtime_error("its Future's"); });
  EXPECT_EQ(loop.drain(), 1U);
  EXPECT_THROW(future.get(), std::runtime_error);
  loop.post([] { throw std::runtime_error("the close goes on"); });
  loop.post([&] { ++ran; });
  const Tally tally = loop.close();
  EXPECT_EQ(ran, 2);
  EXPECT_TRUE(test::came_to(tally, {.done = 2, .failed = 3}));
  EXPECT_NE(tally.first_failure, nullptr);
}

TEST(LoopExecutor, ServesAThreadUntilItIsShut) {
  LoopExecutor loop;
  int ran = 0;
  std::thread owner([&] {
    Status said = Status::ok;
    while ((said = loop.wait()) == Status::ok) (void)loop.drain();
    EXPECT_EQ(said, Status::closed);
  });
  for (int i = 0; i < 100; ++i) loop.post([&ran] { ++ran; });
  EXPECT_EQ(loop.submit([&ran] { return ran; }).get(), 100);
  loop.post([&ran] { ++ran; });
  loop.shut();
  EXPECT_EQ(loop.try_post([] {}), Status::closed);
  EXPECT_THROW(loop.post([] {}), NotRun);
  owner.join();
  EXPECT_EQ(ran, 101);
  EXPECT_EQ(loop.wait(), Status::closed);
}

TEST(LoopExecutor, AWaitEndsByItsLimit) {
  LoopExecutor loop;
  EXPECT_EQ(loop.wait(1ms), Status::timed_out);
  sync::StopSource stop;
  stop.request_stop();
  EXPECT_EQ(loop.wait(stop.token()), Status::stopped);
  loop.post([] {});
  EXPECT_EQ(loop.wait(stop.token()), Status::ok);
}

TEST(LoopExecutor, AbandonedItCancelsAndALateOneExpires) {
  for (const bool abandons : {true, false}) {
    LoopExecutor loop;
    Future<int> future = loop.submit([] { return 1; });
    const Tally tally = loop.close(abandons ? Closing::abandon : Closing::finish_until(0s));
    EXPECT_EQ(abandons ? tally.cancelled : tally.expired, 1U);
    EXPECT_THROW((void)future.get(), NotRun);
  }
}

TEST(LoopExecutor, ItsEndDestroysTheRestAndRunsNothing) {
  auto owned = std::make_shared<int>();
  {
    LoopExecutor loop;
    loop.post([owned] { ADD_FAILURE(); });
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(LoopExecutor, ATaskMustNotClose) {
  LoopExecutor loop;
  loop.post([&] { (void)loop.close(); });
  EXPECT_THROW((void)loop.drain(), Misuse);
}

TEST(LoopExecutor, ADescriptorThatTheSystemRefuses) {
  LoopExecutor loop;
  std::thread([&loop] {  // what is forbidden ends with its thread
    if (!test::forbid({SYS_eventfd2}, EMFILE)) return;
    EXPECT_THROW((void)loop.descriptor(), std::system_error);
  })
      .join();
  EXPECT_GT(loop.descriptor(), 2);
  EXPECT_EQ(loop.descriptor(), loop.descriptor());
}

// ---- What follows a result on an executor -------------------------------------------------------

TEST(ThenOn, RunsAsATaskOfTheExecutor) {
  ThreadPool pool({.width = 1});
  LoopExecutor loop;
  std::thread::id ran;
  Future<int> next = pool.submit([] { return 20; }).then(loop, [&](int number) {
    ran = std::this_thread::get_id();
    return number + 1;
  });
  EXPECT_EQ(loop.wait(), Status::ok);
  EXPECT_FALSE(next.is_ready());
  EXPECT_EQ(loop.drain(), 1U);
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(next.get(), 21);
  Future<void> nothing = pool.submit([] {}).then(loop, [] {});
  EXPECT_EQ(loop.wait(), Status::ok);
  (void)loop.drain();
  nothing.get();
}

TEST(ThenOn, AFailureGoesPastTheExecutor) {
  ThreadPool pool({.width = 1});
  LoopExecutor loop;
  Future<int> failed =
      pool.submit([]() -> int { throw std::runtime_error("before"); }).then(loop, [](int) -> int {
        return 1;
      });
  EXPECT_THROW((void)failed.get(), std::runtime_error);
  EXPECT_EQ(loop.tally().accepted, 0U);
  Future<int> thrown = pool.submit([] { return 1; }).then(loop, [](int) -> int {
    throw std::runtime_error("behind");
  });
  EXPECT_EQ(loop.wait(), Status::ok);
  (void)loop.drain();
  EXPECT_THROW((void)thrown.get(), std::runtime_error);
}

template <class E>
Status why_not(E& executor) {
  auto owned = std::make_shared<int>();
  InlineExecutor here;
  Future<int> next = SerialExecutor<InlineExecutor>(here)
                         .submit([] { return 1; })
                         .then(executor, [owned](int one) { return one; });
  const auto not_run = test::caught<NotRun>(next);
  if (!not_run) return Status::ok;
  EXPECT_EQ(owned.use_count(), 1);
  return not_run->status();
}

struct Refuses {
  template <class F>
  Status try_post(F&& function) {
    if (throws) throw std::bad_alloc();
    if (says != Status::ok) return says;
    const auto dropped = std::forward<F>(function);
    return Status::ok;
  }
  static std::size_t width() { return 1; }

  Status says = Status::ok;
  bool throws = false;
};

TEST(ThenOn, ARefusalIsANotRun) {
  LoopExecutor closed;
  closed.shut();
  EXPECT_EQ(why_not(closed), Status::closed);
  Refuses executor;
  EXPECT_EQ(why_not(executor), Status::stopped) << "destroyed uncalled";
  executor.says = Status::full;
  EXPECT_EQ(why_not(executor), Status::full);
  executor.throws = true;
  EXPECT_THROW((void)why_not(executor), std::bad_alloc);
  InlineExecutor here;
  EXPECT_EQ(why_not(here), Status::ok);
}

// The function returns a Future; and a task waits for it all on a pool of one.
TEST(ThenOn, UnwrapsAndIsAwaitedInsideTasks) {
  ThreadPool pool({.width = 1});
  SerialExecutor strand(pool);
  const auto chain = [&] {
    return pool.submit([] { return 1; })
        .then(strand, [&](int one) { return pool.submit([one] { return one + 1; }); })
        .then(strand, [](int two) { return two + 1; })
        .get();
  };
  EXPECT_EQ(pool.submit(chain).get(), 3);
}

}}  // namespace handoff_loop_executor_test
