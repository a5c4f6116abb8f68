// SPDX-License-Identifier: MIT
//
// A strand over executors that do as they please: its order, its turn, refusals, failures, the end.
#include "support/test.hpp"
#include "support/unheard.hpp"
#include "unit/pool/modes.hpp"

namespace handoff_serial_executor_test { namespace {

using namespace handoff;

using namespace std::chrono_literals;
using namespace test;

// Keeps what it is given until it is asked to run it, and says what it is told to say.
struct ByHand {
  template <class F>
  Status try_post(F&& function) {
    if (before) std::exchange(before, nullptr)();
    if (throws) throw std::bad_alloc();
    if (says != Status::ok) return says;
    if (loses) {
      [[maybe_unused]] const auto taken = std::forward<F>(function);
      throw std::bad_alloc();
    }
    kept.emplace_back(std::forward<F>(function));
    if (once) says = *once;
    return Status::ok;
  }
  static std::size_t width() { return 1; }
  void run_one() {
    UniqueFunction<void()> function = std::move(kept.front());
    kept.erase(kept.begin());
    function();
  }
  void run_all() {
    while (!kept.empty()) run_one();
  }

  Status says = Status::ok;
  std::optional<Status> once;  // what it says after the next one
  bool throws = false;
  bool loses = false;  // takes it, and throws
  std::function<void()> before;  // called inside the next try_post()
  std::vector<UniqueFunction<void()>> kept;
};

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(SerialExecutor, HandsOverOneFunctionForManyTasks) {
  ByHand executor;
  SerialExecutor strand(executor);
  std::vector<int> ran;
  for (int i = 0; i < 10; ++i) strand.post([&ran, i] { ran.push_back(i); });
  EXPECT_EQ(executor.kept.size(), 1U);
  EXPECT_EQ(strand.tally().pending, 10U);
  executor.run_one();
  EXPECT_EQ(ran, up_to(10));
  EXPECT_TRUE(executor.kept.empty()) << "an empty strand has no turn";
  EXPECT_EQ(strand.tally().done, 10U);
  strand.post([&ran] { ran.clear(); });
  executor.run_all();
  EXPECT_TRUE(ran.empty());
}

TEST(SerialExecutor, ATurnGoesBehindTheOthersAfterABatch) {
  ByHand executor;
  SerialExecutor strand(executor);
  std::size_t ran = 0;
  for (int i = 0; i < 40; ++i) strand.post([&ran] { ++ran; });
  std::size_t ran_before = 0;
  (void)executor.try_post([&] { ran_before = ran; });
  executor.run_one();
  EXPECT_EQ(ran, 16U);
  EXPECT_EQ(executor.kept.size(), 2U);
  executor.run_all();
  EXPECT_EQ(ran_before, 16U);
  EXPECT_EQ(ran, 40U);
}

TEST(SerialExecutor, ATurnThatIsRefusedGoesOn) {
  for (const Status refusal : {Status::full, Status::closed}) {
    ByHand executor;
    executor.once = refusal;
    SerialExecutor strand(executor);
    std::size_t ran = 0;
    for (int i = 0; i < 40; ++i) strand.post([&ran] { ++ran; });
    executor.run_one();
    EXPECT_EQ(ran, 40U);
    EXPECT_EQ(strand.close().done, 40U);
  }
}

TEST(SerialExecutor, ATurnWhoseHandOverThrowsGoesOn) {
  ByHand executor;
  SerialExecutor strand(executor);
  std::size_t ran = 0;
  for (int i = 0; i < 40; ++i) strand.post([&ran] { ++ran; });
  executor.throws = true;
  executor.run_one();
  EXPECT_EQ(ran, 40U);
}

TEST(SerialExecutor, ARefusalOfTheExecutorLeavesTheFunction) {
  ByHand executor;
  SerialExecutor strand(executor);
  for (const Status refusal : {Status::full, Status::closed}) {
    executor.says = refusal;
    auto owned = std::make_unique<int>(1);
    int seen = 0;
    auto task = [&seen, owned = std::move(owned)] { seen += *owned; };
    EXPECT_EQ(strand.try_post(std::move(task)), refusal);
    task();
    EXPECT_EQ(seen, 1);
    const auto post = [&] { strand.post(std::move(task)); };
    EXPECT_EQ(caught<NotRun>(post).value().status(), refusal);
    EXPECT_THROW((void)strand.submit([] { return 1; }), NotRun);
    task();
    EXPECT_EQ(seen, 2);
  }
  executor.says = Status::ok;
  executor.throws = true;
  EXPECT_THROW((void)strand.try_post([] {}), std::bad_alloc);
  executor.throws = false;
  EXPECT_EQ(strand.tally().accepted, 0U);
  EXPECT_EQ(strand.try_post([] {}), Status::ok);
  executor.run_all();
  EXPECT_EQ(strand.close().done, 1U);
}

// As a pool does, whose post() waits for room or throws.
struct Posting : ByHand {
  template <class F>
  void post(F&& task) {
    if (const Status said = try_post(std::forward<F>(task)); said != Status::ok) throw NotRun(said);
  }
};

// What others handed over while the executor said no.
template <class Executor>
void accept_beside_a_refusal(void (*refused)(SerialExecutor<Executor>&, Status)) {
  for (const Status refusal : {Status::full, Status::closed}) {
    Executor executor;
    executor.says = refusal;
    SerialExecutor strand(executor);
    int ran = 0;
    executor.before = [&] {
      std::thread([&] { EXPECT_EQ(strand.try_post([&] { ++ran; }), Status::ok); }).join();
    };
    refused(strand, refusal);
    const bool runs = refusal == Status::full;
    EXPECT_TRUE(came_to(strand.close(), {.done = runs, .cancelled = !runs}));
    EXPECT_EQ(ran, runs ? 1 : 0);
  }
}

TEST(SerialExecutor, AcceptedBesideARefusalItRunsOrIsCancelled) {
  accept_beside_a_refusal<ByHand>(
      [](auto& strand, Status refusal) { EXPECT_EQ(strand.try_post([] { FAIL(); }), refusal); });
}

TEST(SerialExecutor, AcceptedBesideARefusalThatIsThrownItRunsOrIsCancelled) {
  accept_beside_a_refusal<Posting>(
      [](auto& strand, Status) { EXPECT_THROW(strand.post([] { FAIL(); }), NotRun); });
}

TEST(SerialExecutor, WhatTheExecutorDestroysIsCancelled) {
  std::optional<ByHand> executor(std::in_place);
  SerialExecutor strand(*executor);
  Future<int> future = strand.submit([] { return 1; });
  for (int i = 0; i < 40; ++i) strand.post([] { ADD_FAILURE(); });
  executor->kept.clear();
  EXPECT_THROW((void)future.get(), NotRun);
  EXPECT_EQ(strand.tally().cancelled, 41U);
  for (int i = 0; i < 40; ++i) strand.post([] {});
  executor->run_one();  // ... and also a turn that was given again
  executor->kept.clear();
  EXPECT_TRUE(came_to(strand.close(), {.done = 16, .cancelled = 65}));
}

TEST(SerialExecutor, WhatTheExecutorTakesAndThrowsIsCancelled) {
  ByHand executor;
  SerialExecutor strand(executor);
  executor.loses = true;
  EXPECT_THROW((void)strand.try_post([] { ADD_FAILURE(); }), std::bad_alloc);
  EXPECT_EQ(strand.tally().cancelled, 1U);
  executor.loses = false;
  std::size_t ran = 0;
  for (int i = 0; i < 40; ++i) strand.post([&ran] { ++ran; });
  executor.loses = true;
  executor.run_one();
  EXPECT_EQ(ran, 16U);
  EXPECT_EQ(strand.close().cancelled, 25U);
}

// Some call what they are given where it lies.
struct InPlace {
  template <class F>
  static Status try_post(F&& function) {
    function();
    return Status::ok;
  }
  static std::size_t width() { return 1; }
};

template <class E>
void run_many_inside() {
  E here;
  SerialExecutor strand(here);
  std::vector<int> ran;
  std::thread::id thread;
  strand.post([&] {
    for (int i = 0; i < 2000; ++i) strand.post([&ran, i] { ran.push_back(i); });
    EXPECT_TRUE(ran.empty()) << "never two at once";
    thread = std::this_thread::get_id();
  });
  EXPECT_EQ(ran, up_to(2000));
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// The turn comes back, and does not go deeper with each batch.
TEST(SerialExecutor, OnAnExecutorThatCallsAtOnce) {
  run_many_inside<InlineExecutor>();
  run_many_inside<InPlace>();
}

struct ThrowsWhenCopied {
  ThrowsWhenCopied() = default;
  ThrowsWhenCopied(const ThrowsWhenCopied&) { throw std::runtime_error("a copy"); }
  ThrowsWhenCopied(ThrowsWhenCopied&&) noexcept = default;
  ThrowsWhenCopied& operator=(const ThrowsWhenCopied&) = delete;
  void operator()() const {}
};

TEST(SerialExecutor, AFunctionThatCannotBeCopiedIsNotAccepted) {
  ByHand executor;
  SerialExecutor strand(executor);
  ThrowsWhenCopied function;
  EXPECT_THROW(strand.post(function), std::runtime_error);  // with the turn
  EXPECT_TRUE(executor.kept.empty());
  strand.post([] {});
  EXPECT_THROW(strand.post(function), std::runtime_error);  // behind another one
  executor.run_all();
  EXPECT_EQ(strand.close().accepted, 1U);
}

TEST(SerialExecutor, LargeFunctionsEndOnceAndBeforeTheNextTask) {
  ByHand executor;
  SerialExecutor strand(executor);
  auto owned = std::make_shared<int>();
  for (int i = 0; i < 3; ++i) {
    strand.post([owned, large = std::array<char, 200>()] { (void)large; });
    strand.post([&owned, i] { EXPECT_EQ(owned.use_count(), 3 - i); });
  }
  EXPECT_EQ(owned.use_count(), 4);
  executor.run_all();
  EXPECT_EQ(owned.use_count(), 1);
}

// ---- Failures -----------------------------------------------------------------------------------

void fail() { throw std::runtime_error("disk\nfull"); }

TEST(SerialExecutor, AFailureGoesToOnError) {
  ByHand executor;
  std::vector<std::string> told;
  SerialExecutor strand(executor, {.on_error = [&told](const TaskFailure& failure) {
                          const auto thrown = [&] { std::rethrow_exception(failure.error); };
                          told.emplace_back(caught<std::runtime_error>(thrown).value().what());
                        }});
  bool next = false;
  strand.post(fail);
  strand.post([&next] { next = true; });
  executor.run_all();
  EXPECT_TRUE(next);
  EXPECT_EQ(told, std::vector<std::string>{"disk\nfull"});
  EXPECT_EQ(strand.wait(), Status::ok);
  const Tally tally = strand.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_NE(tally.first_failure, nullptr);
}

TEST(SerialExecutor, WithoutOnErrorTheNextWaitThrowsIt) {
  ThreadPool pool({.width = 1});
  SerialExecutor strand(pool);
  strand.post(fail);
  EXPECT_THROW((void)strand.wait(), std::runtime_error);
  EXPECT_EQ(strand.wait(), Status::ok);
  EXPECT_EQ(pool.close().failed, 0U) << "the pool has run a turn";
}

TEST(SerialExecutor, AFailureThatNobodyTakesIsTold) {
  const test::Unheard unheard;
  const std::vector<std::string>& told = test::Unheard::told();
  {
    ByHand executor;
    SerialExecutor strand(executor, {.name = "a'log"});
    strand.post(fail);
    strand.post([] { throw 2; });
    executor.run_all();
    EXPECT_EQ(told.size(), 1U) << "wait() takes one only";
    EXPECT_EQ(strand.close().failed, 2U) << "a Tally takes none";
  }
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1],
            "SerialExecutor 'a'log': a task threw: disk\\x0afull; nobody took it: set on_error, "
            "call wait(), or catch it there");
}

// ---- Results ------------------------------------------------------------------------------------

TEST(SerialExecutor, AResultAndAFailureGoToTheFuture) {
  ByHand executor;
  SerialExecutor strand(executor);
  Future<int> sum = strand.submit([](int a, const std::unique_ptr<int>& b) { return a + *b; }, 1,
                                  std::make_unique<int>(2));
  Future<void> failed = strand.submit(fail);
  EXPECT_FALSE(sum.cancel()) << "its turn is its own";
  executor.run_all();
  EXPECT_EQ(sum.get(), 3);
  EXPECT_THROW(failed.get(), std::runtime_error);
  EXPECT_EQ(strand.wait(), Status::ok) << "its Future was told";
  const Tally tally = strand.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_NE(tally.first_failure, nullptr);
}

// wait() is for a stand-in.
TEST(SerialExecutor, ATaskOfThePoolMayWaitForOneOfTheStrand) {
  ThreadPool pool({.width = 1});
  SerialExecutor strand(pool);
  const auto twice = [&strand] {
    const int first = strand.submit([] { return 20; }).get();
    strand.post([] {});
    (void)strand.wait();
    return first + strand.submit([] { return 1; }).get();
  };
  EXPECT_EQ(pool.submit(twice).get(), 21);
}

TEST(SerialExecutor, WhatFollowsAResultRunsInItsTurn) {
  ThreadPool pool({.width = 2});
  SerialExecutor strand(pool);
  int seen = 0;  // of the strand's tasks
  for (int i = 1; i <= 20; ++i) {
    (void)pool.submit([i] { return i; }).then(strand, [&](int number) {
      EXPECT_TRUE(strand.running_in_this_thread());
      seen += number;
    });
  }
  (void)pool.wait();
  EXPECT_EQ(strand.submit([&] { return seen; }).get(), 210);
  EXPECT_FALSE(strand.running_in_this_thread());
}

TEST(SerialExecutor, ALoopRunsOnIt) {
  ThreadPool pool({.width = 2});
  SerialExecutor strand(pool);
  SerialExecutor<SerialExecutor<ThreadPool>> other(strand);
  std::atomic<int> sum{0};
  parallel_for(strand, 0, 1000, [&](int i) { sum += i; });
  parallel_for(other, 0, 1000, [&](int i) { sum += i; });
  EXPECT_EQ(sum, 999000);
}

// ---- The end ------------------------------------------------------------------------------------

// A close needs the executor: another thread closes.
Tally close_beside(SerialExecutor<ByHand>& strand, ByHand& executor, const Closing& closing) {
  Tally tally;
  std::thread closer([&] { tally = strand.close(closing); });
  while (strand.try_post([] {}) != Status::closed) std::this_thread::yield();
  executor.run_all();
  closer.join();
  return tally;
}

TEST(SerialExecutor, AbandonedItCancelsAndALateOneExpires) {
  for (const bool abandons : {true, false}) {
    ByHand executor;
    SerialExecutor strand(executor);
    Future<int> future = strand.submit([] { return 1; });
    const Tally tally =
        close_beside(strand, executor,
                     abandons ? Closing::abandon : Closing::finish_until(std::chrono::seconds(0)));
    EXPECT_TRUE(came_to(tally, {.cancelled = abandons ? tally.accepted : 0,
                                .expired = abandons ? 0 : tally.accepted}));
    EXPECT_EQ(caught<NotRun>(future).value().status(),
              abandons ? Status::stopped : Status::timed_out);
    EXPECT_TRUE(came_to(strand.close(), tally)) << "a second close says the same";
  }
}

TEST(SerialExecutor, AWaitEndsByItsLimit) {
  ByHand executor;
  SerialExecutor strand(executor);
  EXPECT_EQ(strand.wait(0s), Status::ok);
  strand.post([] {});
  EXPECT_EQ(strand.wait(1ms), Status::timed_out);
  sync::StopSource stop;
  stop.request_stop();
  EXPECT_EQ(strand.wait(stop.token()), Status::stopped);
  executor.run_all();
}

TEST(SerialExecutor, ItsTasksMustNotWaitForThem) {
  ByHand executor;
  SerialExecutor strand(executor);
  bool ran = false;
  strand.post([&] {
    EXPECT_THROW((void)strand.close(), Misuse);
    EXPECT_THROW((void)strand.wait(), Misuse);
    ran = true;
  });
  executor.run_all();
  EXPECT_TRUE(ran);
}

// ---- On pools -----------------------------------------------------------------------------------

TEST(SerialExecutor, APoolsCloseRunsWhatTheStrandHas) {
  ThreadPool pool({.width = 1});
  SerialExecutor strand(pool);
  std::size_t ran = 0;
  pool.pause();
  for (int i = 0; i < 100; ++i) strand.post([&ran] { ++ran; });
  (void)pool.close();
  EXPECT_EQ(ran, 100U);
}

TEST(SerialExecutor, APoolsAbandonCancelsWhatTheStrandHas) {
  ThreadPool pool({.width = 1});
  SerialExecutor strand(pool);
  pool.pause();
  for (int i = 0; i < 100; ++i) strand.post([] { ADD_FAILURE(); });
  (void)pool.close(Closing::abandon);
  EXPECT_EQ(strand.close().cancelled, 100U);
}

// ---- Tasks of the pool that wait for its tasks --------------------------------------------------

using OnPool = SerialExecutor<ThreadPool>;

// It is one task of the pool, that runs nothing, and may outlive the strand.
TEST(SerialExecutor, TheFunctionOfATurnThatWasTakenComesForNothing) {
  const auto held = std::make_shared<int>(1);
  ThreadPool pool({.mode = PoolMode::fixed, .width = 1});
  auto task = pool.submit([&pool, held] {
    OnPool strand(pool, {.on_error = [held](const TaskFailure&) {}});
    EXPECT_EQ(strand.submit([] { return 1; }).get(), 1);
    EXPECT_THROW(strand.submit([] { throw 1; }).get(), int);
    return pool.tally().accepted;
  });
  EXPECT_EQ(task.get(), 2U) << "the second turn needed no function of its own";
  const Tally tally = pool.close();
  EXPECT_EQ(tally.done, 2U);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(SerialExecutor, WhatIsLeftBehindAWaitGoesOnByTheFunctionThatIsThere) {
  ThreadPool pool({.mode = PoolMode::fixed, .width = 1});
  OnPool strand(pool);
  std::vector<int> ran;
  auto task = pool.submit([&] {
    strand.post([&] { ran.push_back(1); });
    auto second = strand.submit([&] { ran.push_back(2); });
    strand.post([&] { ran.push_back(3); });
    second.get();
    return ran.size();
  });
  EXPECT_EQ(task.get(), 2U) << "no further than it waits for";
  (void)strand.wait();
  EXPECT_EQ(ran.size(), 3U);
  EXPECT_EQ(pool.close().accepted, 2U);
}

TEST(SerialExecutor, ATaskOfAnotherPoolLeavesTheTurnToItsOwn) {
  ThreadPool pool({.width = 1});
  ThreadPool other({.width = 1});
  OnPool strand(pool);
  const auto where =
      other.submit([&] { return strand.submit([&] { return pool.worker_index(); }).get(); }).get();
  EXPECT_TRUE(where.has_value());
}

TEST(SerialExecutor, AnAbandonedPoolEndsTheStrandOfATaskThatWaits) {
  ThreadPool pool({.mode = PoolMode::fixed, .width = 1});
  OnPool strand(pool);
  test::Gate begun;
  auto task = pool.submit([&] {
    auto first = strand.submit([&begun] { begun.open(); });
    strand.post([] {});
    first.get();
    std::this_thread::sleep_for(5ms);
  });
  begun.wait();
  (void)pool.close(Closing::abandon);
  const Tally tally = strand.close();
  EXPECT_EQ(tally.done + tally.cancelled, 2U);
  EXPECT_TRUE(tally.balanced());
}

}}  // namespace handoff_serial_executor_test
