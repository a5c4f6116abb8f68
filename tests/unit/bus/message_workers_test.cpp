// SPDX-License-Identifier: MIT
//
// MessageWorkers: handing over, bounds, start, pause, failures, closing, misuse.
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace message_workers_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

struct Number {
  int value = 0;
};
struct Text {
  std::string value;
};
struct Owned {
  std::unique_ptr<int> value;
};
struct alignas(256) Wide {
  std::array<std::uint64_t, 64> words{};
};
struct Enormous {
  std::array<std::byte, (std::size_t{1} << (sizeof(std::size_t) == 8 ? 40 : 30))> bytes;
};

struct Held {
  Hold* at;
};
constexpr auto run_held = [](const Held& held) { (*held.at)(); };

// A worker is busy from here on.
template <class Workers>
void keep_busy(Workers& workers, Hold& hold) {
  ASSERT_EQ(workers.publish(Held{&hold}), Status::ok);
  hold.begun.wait();
}

TEST(MessageWorkers, EachMessageGoesToTheHandlerOfItsType) {
  std::atomic<int> numbers{0};
  std::mutex mutex;
  std::multiset<std::string> texts;
  std::atomic<int> owned{0};
  std::atomic<std::uint64_t> words{0};
  std::atomic<int> misplaced{0};
  MessageWorkers<Number, Text, Owned, Wide> workers(
      {.width = 3}, [&](const Number& number) { numbers += number.value; },
      [&](const Text& text) {
        const std::lock_guard lock(mutex);
        texts.insert(text.value);
      },
      [&](Owned& message) { owned += *std::exchange(message.value, nullptr); },
      [&](const Wide& wide) {
        if (reinterpret_cast<std::uintptr_t>(&wide) % alignof(Wide) != 0) ++misplaced;
        for (const std::uint64_t word : wide.words) words += word;
      });
  const Text kept{"kept"};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(workers.publish(Number{i}), Status::ok);
    ASSERT_EQ(workers.publish(kept), Status::ok);
    ASSERT_EQ(workers.publish(Owned{std::make_unique<int>(2)}), Status::ok);
    Wide wide;
    wide.words.fill(1);
    ASSERT_EQ(workers.publish(wide), Status::ok);
  }
  EXPECT_EQ(workers.wait(), Status::ok);
  EXPECT_EQ(numbers, 4950);
  EXPECT_EQ(texts.count("kept"), 100U);
  EXPECT_EQ(kept.value, "kept");
  EXPECT_EQ(owned, 200);
  EXPECT_EQ(words, 6400U);
  EXPECT_EQ(misplaced, 0);
  EXPECT_TRUE(came_to(workers.close(), {.done = 400}));
}

// Also what the compiler would warn of if it were ignored: so a handler may be one call.
TEST(MessageWorkers, WhatAHandlerReturnsIsIgnored) {
  std::atomic<int> sum{0};
  MessageWorkers<Number> adding({.width = 1},
                                [&](const Number& number) { return sum += number.value; });
  MessageWorkers<Number> passing_on({.width = 1},
                                    [&](const Number& number) { return adding.publish(number); });
  for (int i = 1; i <= 4; ++i) ASSERT_EQ(passing_on.publish(Number{i}), Status::ok);
  EXPECT_EQ(passing_on.close().done, 4U);
  EXPECT_EQ(adding.close().done, 4U);
  EXPECT_EQ(sum, 10);
}

// What lies behind a long message in a batch waits for nobody.
TEST(MessageWorkers, IdleWorkersTakeWhatABusyOneHasTaken) {
  Hold hold;
  std::atomic<int> ran{0};
  MessageWorkers<Held, Number> workers({.width = 2}, run_held, [&](const Number&) { ++ran; });
  EXPECT_EQ(workers.pause(), Status::ok);  // so that one worker may take them all
  ASSERT_EQ(workers.publish(Held{&hold}), Status::ok);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(workers.publish(Number{i}), Status::ok);
  workers.resume();
  while (ran < 100) std::this_thread::yield();
  hold.gate.open();
  EXPECT_EQ(workers.close().done, 101U);
}

// ---- Full ---------------------------------------------------------------------------------------

TEST(MessageWorkers, TheCapacityIsExact) {
  for (const std::size_t capacity : {1U, 3U, 100U}) {
    Hold hold;
    MessageWorkers<Held, Number> workers(
        {.width = 1, .capacity = capacity, .on_full = OnFull::reject}, run_held,
        [](const Number&) {});
    keep_busy(workers, hold);
    for (std::size_t i = 1; i < capacity; ++i) ASSERT_EQ(workers.publish(Number{}), Status::ok);
    EXPECT_EQ(workers.publish(Number{}), Status::full);
    EXPECT_EQ(workers.try_publish(Number{}), Status::full);
    EXPECT_EQ(workers.refused(), 2U);
    hold.gate.open();
    EXPECT_EQ(workers.wait(), Status::ok);
    EXPECT_EQ(workers.publish(Number{}), Status::ok);
    EXPECT_EQ(workers.close().done, capacity + 1);
  }
}

// Each message publishes the next one, and finds the only place taken. Handlers inside handlers
// would need a stack many times as large as this thread has.
TEST(MessageWorkers, AChainInsideHandlersDoesNotUseUpTheStack) {
  const auto length = static_cast<int>(test::rounds(200'000));
  for (const OnFull on_full : {OnFull::wait, OnFull::run_here}) {
    std::atomic<int> ran{0};
    std::optional<MessageWorkers<Number>> workers;
    workers.emplace(MessageWorkersOptions{.width = 1, .capacity = 1, .on_full = on_full},
                    [&](const Number& number) {
                      ++ran;
                      if (number.value == 1) return;
                      EXPECT_EQ(workers->publish(Number{number.value - 1}), Status::ok);
                    });
    ASSERT_EQ(workers->publish(Number{length}), Status::ok);
    EXPECT_EQ(workers->wait(), Status::ok);
    EXPECT_EQ(ran, length);
    EXPECT_EQ(workers->close().done, static_cast<std::uint64_t>(length));
  }
}

TEST(MessageWorkers, ACapacityThatCannotBeIsRefused) {
  const auto make = [](std::size_t capacity) {
    const MessageWorkers<Number> workers({.width = 1, .capacity = capacity}, [](const Number&) {});
  };
  EXPECT_EQ(MessageWorkers<Number>({.width = 1, .capacity = 3}).capacity(), 3U);
  EXPECT_THROW(make(0), std::logic_error);
  EXPECT_THROW(make(std::size_t{1} << 24), std::length_error);
  EXPECT_THROW(make(std::numeric_limits<std::size_t>::max()), std::length_error);
  make(1);
}

// The largest capacity is none that cannot be; but of these there are more bytes than can be
// counted.
TEST(MessageWorkers, MemoryThatCannotBeIsABadAlloc) {
  constexpr std::size_t largest = (std::size_t{1} << 24) - 1;
  EXPECT_THROW(MessageWorkers<Enormous>({.width = 1, .capacity = largest}, [](const Enormous&) {}),
               std::bad_alloc);
}

// ---- Start --------------------------------------------------------------------------------------

TEST(MessageWorkers, WhatComesBeforeTheStartWaits) {
  std::atomic<int> sum{0};
  MessageWorkers<Number, Text> workers({.width = 2, .capacity = 8});
  ASSERT_EQ(workers.publish(Number{5}), Status::ok);
  ASSERT_EQ(workers.publish(Text{"seven"}), Status::ok);
  EXPECT_EQ(workers.wait(1ms), Status::timed_out);
  workers.set_handler<Number>([](const Number&) { FAIL() << "it was set again"; });
  workers.set_handler<Number>([&](const Number& number) { sum += number.value; });
  EXPECT_THROW(workers.start(), std::logic_error);  // none for Text
  EXPECT_EQ(workers.tally().pending, 2U);
  workers.set_handler<Text>([&](Text& text) { sum += static_cast<int>(text.value.size()); });
  workers.start();
  EXPECT_EQ(workers.wait(), Status::ok);
  EXPECT_EQ(sum, 10);
  EXPECT_THROW(workers.start(), std::logic_error);
  EXPECT_THROW(workers.set_handler<Text>([](const Text&) {}), std::logic_error);
  EXPECT_EQ(workers.close().done, 2U);
}

std::string misuse_said;

TEST(MessageWorkers, TheMissingHandlerIsNamed) {
  MessageWorkers<Number, Text> workers;
  workers.set_handler<Number>([](const Number&) {});
  const MisuseHandler before = set_misuse_handler([](const char* what) { misuse_said = what; });
  EXPECT_THROW(workers.start(), std::logic_error);
  (void)set_misuse_handler(before);
  EXPECT_NE(misuse_said.find("Text"), std::string::npos) << misuse_said;
  EXPECT_EQ(misuse_said.find("Number"), std::string::npos) << misuse_said;
  EXPECT_EQ(misuse_said.find("type_name"), std::string::npos) << "the name of the type alone";
}

TEST(MessageWorkers, APauseOutlivesTheStart) {
  std::atomic<int> ran{0};
  MessageWorkers<Number> workers({.width = 1});
  workers.set_handler<Number>([&](const Number&) { ++ran; });
  ASSERT_EQ(workers.publish(Number{}), Status::ok);
  EXPECT_EQ(workers.pause(), Status::ok);
  workers.start();
  EXPECT_EQ(workers.wait(1ms), Status::timed_out);
  EXPECT_EQ(ran, 0);
  workers.resume();
  EXPECT_EQ(workers.wait(), Status::ok);
  EXPECT_EQ(ran, 1);
}

TEST(MessageWorkers, NothingBeginsInACloseWhoseTimeIsOver) {
  std::atomic<int> ran{0};
  MessageWorkers<Number> workers({.width = 2}, [&](const Number&) { ++ran; });
  EXPECT_EQ(workers.pause(), Status::ok);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(workers.publish(Number{}), Status::ok);
  EXPECT_TRUE(came_to(workers.close(Closing::finish_until(0ms)), {.expired = 100}));
  EXPECT_EQ(ran, 0);
}

TEST(MessageWorkers, AMovedOneGoesOn) {
  std::atomic<int> sum{0};
  const auto add = [&](const Number& number) { sum += number.value; };
  MessageWorkers<Number> first({.width = 1}, add);
  ASSERT_EQ(first.publish(Number{1}), Status::ok);
  MessageWorkers<Number> second(std::move(first));
  ASSERT_EQ(second.publish(Number{2}), Status::ok);
  MessageWorkers<Number> third({.width = 1}, add);
  ASSERT_EQ(third.publish(Number{4}), Status::ok);
  third = std::move(second);  // drains what it had
  EXPECT_EQ(third.close().done, 2U);
  EXPECT_EQ(sum, 7);
}

// Its handlers too, and that it is not started.
TEST(MessageWorkers, WhatIsAssignedComesWhole) {
  auto alive = std::make_shared<int>();
  std::atomic<int> sum{0};
  MessageWorkers<Number> workers({.width = 1}, [alive](const Number&) {});
  {
    MessageWorkers<Number> late({.width = 1});
    workers = std::move(late);
  }
  ASSERT_EQ(alive.use_count(), 1);  // the handler that it had is gone
  workers.set_handler<Number>([&](const Number& number) { sum += number.value; });
  workers.start();
  ASSERT_EQ(workers.publish(Number{3}), Status::ok);
  EXPECT_EQ(workers.close().done, 1U);
  EXPECT_EQ(sum, 3);
}

// ---- publish_and_wait() ------------------------------------------------------------------------

TEST(MessageWorkers, PublishAndWaitReturnsWhenTheHandlerHasRun) {
  std::thread::id ran_on;
  int handled = 0;  // plain: the call orders it
  MessageWorkers<Number> workers({.width = 1}, [&](Number& number) {
    handled += std::exchange(number.value, -1);
    ran_on = std::this_thread::get_id();
  });
  Number message{3};
  EXPECT_EQ(workers.publish_and_wait(message), Status::ok);
  EXPECT_EQ(message.value, -1);  // it stayed where it was
  const Number constant{4};
  EXPECT_EQ(workers.publish_and_wait(constant), Status::ok);
  EXPECT_EQ(workers.publish_and_wait(Number{5}), Status::ok);
  EXPECT_EQ(handled, 12);
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(workers.close().done, 3U);
}

TEST(MessageWorkers, PublishAndWaitThrowsWhatTheHandlerThrew) {
  MessageWorkers<Number> workers({.width = 1},
                                 [](const Number&) { throw std::range_error("told"); });
  EXPECT_THROW((void)workers.publish_and_wait(Number{}), std::range_error);
  EXPECT_EQ(workers.wait(), Status::ok);  // it was told already
  const Tally tally = workers.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_THROW(std::rethrow_exception(tally.first_failure), std::range_error);
}

// A thread that helps may be held up by a handler, so one that may be stopped, or that has a
// deadline, does not. The last one does, or this hangs: the worker waits for what only a helper can
// run.
TEST(MessageWorkers, OnlyAWaitWithoutALimitHelps) {
  Hold hold;
  std::thread::id ran_on;
  MessageWorkers<Held, Number> workers({.width = 1}, run_held, [&](const Number&) {
    ran_on = std::this_thread::get_id();
    hold.gate.open();
  });
  keep_busy(workers, hold);
  ASSERT_EQ(workers.publish(Number{}), Status::ok);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(workers.wait(stop.get_token()), Status::stopped);
  EXPECT_EQ(workers.wait(1ms), Status::timed_out);
  EXPECT_EQ(ran_on, std::thread::id());
  EXPECT_EQ(workers.wait(), Status::ok);
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

// ---- Failures -----------------------------------------------------------------------------------

template <class T>
struct Boxed {
  T value;
};

TEST(MessageWorkers, OnErrorHearsOfEachWithTheTypeOfItsMessage) {
  std::vector<std::string> told;
  MessageWorkers<Number, Text, Boxed<std::string>> workers(
      {.width = 1,
       .on_error = [&](const TaskFailure& failure) { told.emplace_back(failure.task); }},
      [](const Number&) { throw std::runtime_error("a number"); }, [](const Text&) {},
      [](const Boxed<std::string>&) { throw std::runtime_error("a box"); });
  ASSERT_EQ(workers.publish(Number{}), Status::ok);
  ASSERT_EQ(workers.publish(Text{}), Status::ok);
  ASSERT_EQ(workers.publish(Boxed<std::string>{}), Status::ok);
  EXPECT_EQ(workers.close().failed, 2U);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_TRUE(told[0].ends_with("::Number")) << told[0];
  EXPECT_TRUE(told[1].ends_with(">")) << "no more than its name: " << told[1];
  for (const std::string& name : told) EXPECT_EQ(name.find('='), std::string::npos) << name;
}

// ---- Pause --------------------------------------------------------------------------------------

TEST(MessageWorkers, WhatIsToRunHereWaitsForTheResume) {
  std::atomic<int> ran{0};
  MessageWorkers<Number> workers({.width = 1}, [&](const Number&) { ++ran; });
  EXPECT_EQ(workers.pause(), Status::ok);
  std::thread caller([&] { EXPECT_EQ(workers.publish_and_wait(Number{}), Status::ok); });
  while (workers.tally().accepted == 0) std::this_thread::yield();
  EXPECT_EQ(ran, 0);
  workers.resume();
  caller.join();
  EXPECT_EQ(ran, 1);
}

// A task of another pool that the pause holds up is replaced there: or the one that ends the pause,
// behind it in that pool, would never run.
TEST(MessageWorkers, ATaskThatAPauseHoldsUpLendsItsWorker) {
  MessageWorkers<Number> workers({.width = 1}, [](const Number&) {});
  ThreadPool pool(1);
  EXPECT_EQ(workers.pause(), Status::ok);
  std::atomic<bool> handled{false};
  pool.post([&] { handled = workers.publish_and_wait(Number{}) == Status::ok; });
  while (workers.tally().accepted == 0) std::this_thread::yield();
  std::atomic<bool> resumed{false};
  pool.post([&] {
    workers.resume();
    resumed = true;
  });
  while (!resumed) std::this_thread::yield();  // and no wait(), which would help
  pool.wait();
  EXPECT_TRUE(handled);
}

// ---- Closing ------------------------------------------------------------------------------------

TEST(MessageWorkers, ThreeStrengthsOfClosing) {
  struct Strength {
    Closing how;
    Tally expected;
  };
  const Strength strengths[] = {{Closing::finish, {.done = 6}},
                                {Closing::finish_until(0ms), {.done = 1, .expired = 5}},
                                {Closing::abandon, {.done = 1, .cancelled = 5}}};
  for (const auto& [how, expected] : strengths) {
    Hold hold;
    std::atomic<std::uint64_t> ran{0};
    MessageWorkers<Held, Number> workers({.width = 1}, run_held, [&](const Number&) { ++ran; });
    keep_busy(workers, hold);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(workers.publish(Number{}), Status::ok);
    EXPECT_TRUE(came_to(close_a_held(workers, hold.gate, how), expected));
    EXPECT_EQ(expected.done, ran + 1);
    EXPECT_TRUE(came_to(workers.close(Closing::abandon), expected)) << "the same once more";
  }
}

// A message that runs on its caller is no task of the workers; it has begun all the same.
TEST(MessageWorkers, AnExpiredCloseWaitsForWhatRunsOnItsCaller) {
  Hold hold;
  MessageWorkers<Held> workers({.width = 1}, run_held);
  const std::jthread caller([&] { EXPECT_EQ(workers.publish_and_wait(Held{&hold}), Status::ok); });
  hold.begun.wait();
  EXPECT_TRUE(came_to(close_a_held(workers, hold.gate, Closing::finish_until(0ms)), {.done = 1}));
}

TEST(MessageWorkers, HandlersAreRefusedWhileItDrains) {
  std::optional<MessageWorkers<Number>> workers;
  std::atomic<int> refused{0};
  workers.emplace(MessageWorkersOptions{.width = 1}, [&](const Number& number) {
    if (number.value == 0) return;
    while (workers->publish(Number{0}) == Status::ok) std::this_thread::yield();
    ++refused;
  });
  ASSERT_EQ(workers->publish(Number{1}), Status::ok);
  const Tally tally = workers->close();
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.pending, 0U);
}

// ---- Misuse, names, CPUs ------------------------------------------------------------------------

TEST(MessageWorkers, InsideAHandlerWaitingForItselfIsMisuse) {
  std::optional<MessageWorkers<Number>> workers;
  std::atomic<int> refused{0};
  workers.emplace(MessageWorkersOptions{.width = 1}, [&](const Number&) {
    const auto refuses = [&](auto call) {
      try {
        call();
      } catch (const std::logic_error&) {
        ++refused;
      }
    };
    refuses([&] { (void)workers->wait(); });
    refuses([&] { (void)workers->pause(1ms); });
    refuses([&] { (void)workers->close(); });
  });
  ASSERT_EQ(workers->publish(Number{}), Status::ok);
  EXPECT_EQ(workers->wait(), Status::ok);
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(workers->publish_and_wait(Number{}), Status::ok);  // and on a thread of nobody's
  EXPECT_EQ(refused, 6);
}

// A handler inside a handler of others is inside both; this thread is nobody's worker.
TEST(MessageWorkers, InsideTwoHandlersBothAreKnown) {
  std::optional<MessageWorkers<Number>> outer;
  std::optional<MessageWorkers<Number>> inner;
  std::atomic<int> refused{0};
  inner.emplace(MessageWorkersOptions{.width = 1}, [&](const Number&) {
    try {
      (void)outer->wait(1ms);
    } catch (const std::logic_error&) {
      ++refused;
    }
  });
  outer.emplace(MessageWorkersOptions{.width = 1}, [&](const Number&) {
    EXPECT_EQ(inner->wait(1h), Status::ok);  // not yet inside one of those
    EXPECT_EQ(inner->publish_and_wait(Number{}), Status::ok);
  });
  EXPECT_EQ(outer->publish_and_wait(Number{}), Status::ok);
  EXPECT_EQ(refused, 1);
}

TEST(MessageWorkers, OnFullThatItHasNotIsMisuse) {
  for (const OnFull on_full : {OnFull::grow, OnFull::overwrite_oldest}) {
    EXPECT_THROW(MessageWorkers<Number>({.width = 1, .on_full = on_full}, [](const Number&) {}),
                 std::logic_error);
  }
}

TEST(MessageWorkers, ThreadsAreNamedAndStayOnTheirCpus) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) ++cpu;
  std::array<char, 16> name{};
  std::optional<cpu_set_t> runs_on;
  MessageWorkers<Number> workers({.name = "sorters", .width = 1, .cpus = {cpu}},
                                 [&](const Number&) {
                                   pthread_getname_np(pthread_self(), name.data(), name.size());
                                   runs_on.emplace();
                                   sched_getaffinity(0, sizeof(cpu_set_t), &*runs_on);
                                 });
  ASSERT_EQ(workers.publish(Number{}), Status::ok);
  (void)workers.close();  // does not help
  EXPECT_STREQ(name.data(), "sorters");
  ASSERT_TRUE(runs_on);
  EXPECT_EQ(CPU_COUNT(&*runs_on), 1);
  EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(cpu), &*runs_on));
}

// A handler that blocks is replaced, so the only worker is not held up.
TEST(MessageWorkers, AHandlerThatBlocksLendsItsWorker) {
  Gate gate;
  MessageWorkers<Number> workers({.width = 1}, [&](const Number& number) {
    if (number.value == 0) blocking([&] { gate.wait(); });
    if (number.value == 1) gate.open();
  });
  ASSERT_EQ(workers.publish(Number{0}), Status::ok);
  ASSERT_EQ(workers.publish(Number{1}), Status::ok);
  EXPECT_EQ(workers.close().done, 2U);
}

}}  // namespace message_workers_test
