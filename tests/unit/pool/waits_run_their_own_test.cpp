// SPDX-License-Identifier: MIT
//
// A wait runs what it waits for, and nothing else: each kind of wait, from outside and in a task,
// in each mode and two widths, beside each kind of work that is not waited for, handed over by the
// waiter before and after, and by what is waited for.
//
// What is waited for runs elsewhere until the waiter sleeps. The other work says so if it runs
// inside the wait; else it blocks until the wait has returned, which it must do all the same.
#include "support/test.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace waits_run_their_own_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Gate;

// What may happen in a round, besides what is waited for.
class Round {
 public:
  enum class Maker { waiter_before, waiter_after, what_is_waited_for };
  enum class Kind { task_of_another_group, post, submit };

  Round(ThreadPool& on, Maker maker, Kind kind)
      : pool(on), maker_(maker), kind_(kind), others_(on), waiter_(gettid()) {}

  // By the waiting thread, around the start of what is waited for.
  void before() { make_if(Maker::waiter_before); }
  void begun_elsewhere() {
    begun_.wait();
    make_if(Maker::waiter_after);
    waiting() = true;
  }
  // What is waited for, on another thread, until the waiter has slept for a while.
  void waited_for() {
    make_if(Maker::what_is_waited_for);
    begun_.open();
    for (int times = 0; times < 3 && !ran_inside_;) {
      std::this_thread::sleep_for(1ms);
      times = test::is_asleep(waiter_) ? times + 1 : 0;
    }
  }
  // A part of a loop, which is either.
  void part() { gettid() == waiter_ ? begun_elsewhere() : waited_for(); }
  // The wait has returned. Whether it ran nothing else.
  bool over() {
    waiting() = false;
    over_.open();
    others_.wait();
    if (result_.valid()) result_.get();
    while (made_ && !other_done_) std::this_thread::yield();
    return !ran_inside_;
  }
  // False: the waiter came too late to have a part of the loop.
  bool was_made() const { return made_; }

  ThreadPool& pool;

 private:
  static bool& waiting() {
    thread_local bool is_waiting = false;
    return is_waiting;
  }

  void make_if(Maker who) {
    if (who != maker_ || made_.exchange(true)) return;
    const auto other = [this] {
      if (waiting()) {
        ran_inside_ = true;
      } else {
        blocking([this] { over_.wait(); });
      }
      other_done_ = true;
    };
    switch (kind_) {
      case Kind::task_of_another_group: return others_.run(other);
      case Kind::post: return pool.post(other);
      case Kind::submit: result_ = pool.submit(other); return;
    }
  }

  const Maker maker_;
  const Kind kind_;
  TaskGroup others_;
  const pid_t waiter_;
  Gate begun_;
  Gate over_;
  std::atomic<bool> made_{false};
  std::atomic<bool> ran_inside_{false};
  std::atomic<bool> other_done_{false};
  Future<void> result_;
};

// ---- The waits ----------------------------------------------------------------------------------

void of_a_group(Round& round, void (*wait)(TaskGroup& group)) {
  TaskGroup group(round.pool);
  round.before();
  group.run([&] { round.waited_for(); });
  round.begun_elsewhere();
  wait(group);
}
void group_wait(Round& round) {
  of_a_group(round, [](TaskGroup& group) { group.wait(); });
}
void group_wait_until(Round& round) {
  of_a_group(round, [](TaskGroup& group) { EXPECT_EQ(group.wait(1h), Status::ok); });
}
void group_end(Round& round) {
  of_a_group(round, [](TaskGroup&) {});
}

void run_and_wait(Round& round) {
  TaskGroup group(round.pool);
  round.before();
  group.run([&] { round.waited_for(); });
  group.run_and_wait([&] { round.begun_elsewhere(); });
}

// What is waited for waits for parts of its own, which the waiter may run.
void group_of_groups(Round& round) {
  TaskGroup group(round.pool);
  round.before();
  group.run([&] {
    round.waited_for();
    std::atomic<int> ran{0};
    TaskGroup parts(round.pool);
    for (int i = 0; i < 10; ++i) parts.run([&ran] { ++ran; });
    parts.wait();
    EXPECT_EQ(ran, 10);
  });
  round.begun_elsewhere();
  group.wait();
}

void loop(Round& round) {
  round.before();
  parallel_for(round.pool, 0, 2, [&](IndexRange) { round.part(); });
}

void reduction(Round& round) {
  round.before();
  const auto part = [&](std::size_t) {
    round.part();
    return 1;
  };
  EXPECT_EQ(parallel_reduce(round.pool, 0, 2, 0, part, [](int a, int b) { return a + b; }), 2);
}

void run_of_a_range(Round& round) {
  round.before();
  (void)round.pool.run(2, [&](IndexRange) { round.part(); }, {.block = 1});
}

void future_get(Round& round) {
  round.before();
  Future<void> future = round.pool.submit([&] { round.waited_for(); });
  round.begun_elsewhere();
  future.get();
}

void continuation_get(Round& round) {
  round.before();
  Future<int> future = round.pool.submit([&] { round.waited_for(); }).then([] { return 1; });
  round.begun_elsewhere();
  EXPECT_EQ(future.get(), 1);
}

void all_of_two(Round& round) {
  round.before();
  std::vector<Future<int>> parts;
  parts.push_back(round.pool.submit([&] {
    round.waited_for();
    return 1;
  }));
  parts.push_back(round.pool.submit([] { return 2; }));
  round.begun_elsewhere();
  (void)when_all(std::move(parts)).get();
}

struct Wait {
  const char* name;
  void (*call)(Round& round);
};
constexpr Wait kWaits[] = {
    {"TaskGroup::wait()", group_wait},
    {"TaskGroup::wait(until)", group_wait_until},
    {"~TaskGroup()", group_end},
    {"TaskGroup::run_and_wait()", run_and_wait},
    {"a group of groups", group_of_groups},
    {"parallel_for", loop},
    {"parallel_reduce", reduction},
    {"ThreadPool::run()", run_of_a_range},
    {"Future::get()", future_get},
    {"then().get()", continuation_get},
    {"when_all().get()", all_of_two},
};

constexpr Round::Maker kMakers[] = {Round::Maker::waiter_before, Round::Maker::waiter_after,
                                    Round::Maker::what_is_waited_for};
constexpr Round::Kind kKinds[] = {Round::Kind::task_of_another_group, Round::Kind::post,
                                  Round::Kind::submit};

std::string name_of(Round::Maker maker, Round::Kind kind) {
  constexpr const char* makers[] = {"the waiter, before", "the waiter, after",
                                    "what is waited for"};
  constexpr const char* kinds[] = {"a task of another group", "a post", "a submit"};
  return std::string(kinds[static_cast<int>(kind)]) + " by " + makers[static_cast<int>(maker)];
}

// Whether the wait ran nothing but what it waited for.
bool passes(ThreadPool& pool, void (*wait)(Round&), Round::Maker maker, Round::Kind kind) {
  for (int tries = 0; tries < 100; ++tries) {
    Round round(pool, maker, kind);
    wait(round);
    if (!round.over()) return false;
    if (round.was_made()) return true;
  }
  return false;
}

class WaitsRunTheirOwn : public test::ModeTest {};
HANDOFF_EACH_MODE(WaitsRunTheirOwn);

// In each of the pools, of this width or that.
template <class Run>
void walk(const ThreadPoolOptions& options, const Run& run) {
  for (const Wait& wait : kWaits) {
    ThreadPool pool(options);
    for (const Round::Maker maker : kMakers) {
      for (const Round::Kind kind : kKinds) {
        EXPECT_TRUE(run(pool, wait.call, maker, kind))
            << wait.name << " beside " << name_of(maker, kind) << ", width " << options.width;
      }
    }
  }
}

TEST_P(WaitsRunTheirOwn, FromOutside) {
  walk(options(1), passes);
  if (test::deep()) walk(options(3), passes);
}

TEST_P(WaitsRunTheirOwn, InATask) {
  const auto in_a_task = [](ThreadPool& pool, auto... of) {
    return pool.submit([&] { return passes(pool, of...); }).get();
  };
  walk(options(2), in_a_task);
  if (test::deep()) walk(options(4), in_a_task);
}

// The canary: a wait for all runs the rest, and is found out.
TEST(WaitsRunTheirOwnCanary, AWaitForAllIsFoundOut) {
  ThreadPool pool(1);
  const auto wait_for_all = [](Round& round) {
    TaskGroup group(round.pool);
    group.run([&] { round.waited_for(); });
    round.begun_elsewhere();
    round.pool.wait();
  };
  EXPECT_FALSE(passes(pool, wait_for_all, Round::Maker::waiter_after, Round::Kind::post));
}

// ---- Started runs -------------------------------------------------------------------------------

// A completion waits for the blocks, not for what a block has posted.
TEST_P(WaitsRunTheirOwn, ACompletionWaitsForNoPostOfABlock) {
  ThreadPool pool(options(2));
  Gate held;
  test::hold(pool, held);  // so nobody takes what the blocks hand over
  Gate ended;
  BulkOperation run(
      pool, 2,
      [&](std::size_t, std::size_t) { pool.post([&] { blocking([&] { ended.wait(); }); }); },
      [&](const Tally&) noexcept { ended.open(); }, {.block = 1});
  ASSERT_EQ(run.start(), Status::ok);
  ended.wait();
  held.open();
  pool.wait();
}

// ---- What makes parts of it ---------------------------------------------------------------------

// Tasks of one group that make more of it, and of the group that waits for that one, in whichever
// deque those come to lie: all run, with no thread to spare.
TEST_P(WaitsRunTheirOwn, TasksOfOuterGroupsMadeDeepInsideRun) {
  for (std::size_t round = 0; round < test::rounds(300); ++round) {
    ThreadPool pool(options(2));
    std::atomic<int> ran{0};
    pool.submit([&] {
          TaskGroup outer(pool);
          for (int i = 0; i < 3; ++i) {
            outer.run([&] {
              TaskGroup inner(pool);
              for (int k = 0; k < 3; ++k) {
                inner.run([&] {
                  outer.run([&ran] { ++ran; });
                  inner.run([&ran] { ++ran; });
                });
              }
              inner.wait();
            });
          }
          outer.wait();
        })
        .get();
    ASSERT_EQ(ran, 18);
  }
}

}}  // namespace waits_run_their_own_test
