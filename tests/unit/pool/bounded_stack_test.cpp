// SPDX-License-Identifier: MIT
//
// Every way by which a task can run inside another, and what follows a result inside what follows
// another, a million times, on stacks of a quarter of a megabyte.
//
// Each way is a chain: what runs hands over the next, or makes the next result. Where each link
// lies on the stack of the one before by its nature (tasks that wait for tasks) the chain is
// shorter, and further threads take over.
#include <handoff/core/internal/inside.hpp>
#include <handoff/core/internal/promise.hpp>

#include "support/job.hpp"
#include "support/senders_model.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace bounded_stack_test { namespace {

using namespace handoff;
using detail::Promise;
using namespace test;
namespace senders = test::senders;

constexpr std::size_t kStackBytes = test::sanitized ? std::size_t{1} << 20 : std::size_t{1} << 18;

long links() { return test::slow && !test::deep() ? 100'000 : 1'000'000; }

// Threads that are started as long as this lives have small stacks.
class SmallStacks {
 public:
  SmallStacks() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t small;
    pthread_getattr_default_np(&small);
    pthread_attr_setstacksize(&small, kStackBytes);
    pthread_setattr_default_np(&small);
    pthread_attr_destroy(&small);
  }
  ~SmallStacks() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  SmallStacks(const SmallStacks&) = delete;
  SmallStacks& operator=(const SmallStacks&) = delete;

 private:
  pthread_attr_t before_;
};

ThreadPoolOptions full(PoolMode mode, OnFull on_full) {
  ThreadPoolOptions options;
  options.mode = mode;
  options.width = 1;
  options.capacity = 1;
  options.on_full = on_full;
  return options;
}

// ---- Tasks that a full pool runs where they are handed over -------------------------------------

// Each hands over the next one.
struct Chain {
  ThreadPool& pool;
  long left;
  Gate over;

  void post() {
    if (left-- == 0) return over.open();
    pool.post([this] { post(); });
  }
  void submit() {
    if (left-- == 0) return over.open();
    (void)pool.submit([this] { submit(); });
  }
  void submit_and_continue() {
    if (left-- == 0) return over.open();
    (void)pool.submit([] {}).then([this] { submit_and_continue(); });
  }
};

// Runs over a range, each started by the completion of the one before.
template <class B>
struct Runs {
  void next() {
    if (left-- == 0) return over.open();
    EXPECT_EQ(run.start(), Status::ok);
  }

  struct Nothing {
    void operator()(std::size_t, std::size_t) const noexcept {}
  };
  struct Next {
    void operator()(const Tally&) const noexcept { runs->next(); }
    Runs* runs;
  };

  B& bulk;
  long left;
  Gate over{};
  BulkOperation<B, Nothing, Next> run{bulk, 1, Nothing(), Next{this}};
};

template <class B>
void start_each(B& bulk, long links) {
  Runs<B> runs{bulk, links};
  runs.next();
  runs.over.wait();
}

Job go_over(ThreadPool& pool, long times, std::atomic<int>& ended) {
  for (long i = 0; i < times; ++i) co_await pool.schedule();
  ++ended;
}

Job ask(ThreadPool& pool, long times, std::atomic<int>& ended) {
  for (long i = 0; i < times; ++i) co_await pool.submit([] {});
  ++ended;
}

// A sender's operation that starts the next one when it completes.
struct Operations {
  struct Receiver : senders::Unstopped {
    void set_value() && noexcept { all->next(); }
    void set_error(const std::exception_ptr&) && noexcept { std::terminate(); }
    void set_stopped() && noexcept { std::terminate(); }
    Operations* all;
  };

  void next() {
    if (left-- == 0) return over.open();
    operation.emplace(detail::engine_of(pool), Receiver{{}, this});
    operation->start();
  }

  ThreadPool& pool;
  long left;
  Gate over;
  std::optional<BasicPoolScheduler<senders::Words>::Operation<Receiver>> operation;
};

struct Way {
  const char* name;
  void (*run)(ThreadPool& pool, long links);
};

void chain(ThreadPool& pool, long links, void (Chain::*step)()) {
  Chain all{pool, links, {}};
  (all.*step)();
  all.over.wait();
  pool.wait();
}

void coroutines(ThreadPool& pool, long links, Job (*job)(ThreadPool&, long, std::atomic<int>&)) {
  std::atomic<int> ended{0};
  for (int i = 0; i < 2; ++i) job(pool, links / 2, ended);
  while (ended != 2) std::this_thread::yield();
  pool.wait();
}

constexpr Way kInFullPools[] = {
    {"post()", [](ThreadPool& pool, long links) { chain(pool, links, &Chain::post); }},
    {"submit()", [](ThreadPool& pool, long links) { chain(pool, links, &Chain::submit); }},
    {"submit().then()",
     [](ThreadPool& pool, long links) { chain(pool, links, &Chain::submit_and_continue); }},
    {"start()",
     [](ThreadPool& pool, long links) {
       start_each(pool, links);
       pool.wait();
     }},
    {"co_await schedule()", [](ThreadPool& pool, long links) { coroutines(pool, links, go_over); }},
    {"co_await submit()", [](ThreadPool& pool, long links) { coroutines(pool, links, ask); }},
    {"a sender",
     [](ThreadPool& pool, long links) {
       Operations all{pool, links, {}, {}};
       all.next();
       all.over.wait();
       pool.wait();
     }},
};

class BoundedStackTest : public test::ModeTest {};
HANDOFF_EACH_MODE(BoundedStackTest);

// From a thread with a small stack; the whole million in one of the modes each.
void walk_full_pools(PoolMode mode, OnFull on_full) {
  const SmallStacks small;
  const bool whole = mode == (on_full == OnFull::wait ? PoolMode::fixed : PoolMode::stealing);
  std::thread([=] {
    for (const Way& way : kInFullPools) {
      SCOPED_TRACE(way.name);
      ThreadPool pool(full(mode, on_full));
      way.run(pool, whole || test::deep() ? links() : links() / 50);
      EXPECT_TRUE(pool.close().balanced());
    }
  }).join();
}

TEST_P(BoundedStackTest, ChainsInAPoolThatRunsThemHere) {
  walk_full_pools(GetParam(), OnFull::run_here);
}
TEST_P(BoundedStackTest, ChainsInAPoolWhoseTasksCannotWait) {
  walk_full_pools(GetParam(), OnFull::wait);
}

// On a team of one, which has no threads to start a run on, and on others.
TEST(BoundedStack, RunsThatStartTheNext) {
  const SmallStacks small;
  for (const std::size_t width : {1U, 2U}) {
    std::thread([width] {
      ThreadTeam team(width);
      start_each(team, links());
      ThreadPool pool(width);
      start_each(pool, links());
    }).join();
  }
}

// The canary: how deep they are inside each other is seen, and would grow without the bound.
TEST(BoundedStackCanary, CallsInsideEachOtherAreSeenToEnd) {
  ThreadPool pool(full(PoolMode::fixed, OnFull::run_here));
  Gate gate;
  test::hold(pool, gate);
  pool.post([] {});
  int depth = 0;
  int deepest = 0;
  std::function<void()> next = [&] {
    if (++depth > deepest) deepest = depth;
    if (deepest < 1000 && pool.statistics().from_outside == 2) pool.post([&] { next(); });
    --depth;
  };
  next();
  EXPECT_EQ(deepest, static_cast<int>(detail::Inside::most) + 1);
  EXPECT_EQ(pool.statistics().from_outside, 3U) << "beyond the capacity";
  gate.open();
  pool.wait();
}

// ---- What follows results -----------------------------------------------------------------------

// A continuation that makes another one of a result that is there.
void continue_ready(long left, std::atomic<long>& ran) {
  ++ran;
  if (left > 1) (void)ready_future(1).then([left, &ran](int) { continue_ready(left - 1, ran); });
}

// The same of calls that take much of the stack each: fewer lie inside each other.
void continue_largely(long left, std::atomic<long>& ran) {
  std::array<volatile char, kStackBytes / 12> large;  // NOLINT(*-member-init): only to be there
  large.front() = 1;
  large.back() = 1;
  ++ran;
  if (left > 1) (void)ready_future(1).then([left, &ran](int) { continue_largely(left - 1, ran); });
}

// A chain of promises, each kept by what follows the one before.
struct Link {
  Future<int> future;
  std::optional<Promise<int>> promise{std::in_place, future};
};

void keep(Link& link) { std::exchange(link.promise, std::nullopt)->set_value(1); }

Job keep_next(Link& mine, Link* next, std::atomic<long>& ran) {
  co_await std::move(mine.future);
  ++ran;
  if (next != nullptr) keep(*next);
}

// The same of a sender's receiver.
struct KeepNext : senders::Unstopped {
  void set_value(int) && noexcept {
    ++*ran;
    if (next != nullptr) keep(*next);
  }
  void set_error(const std::exception_ptr&) && noexcept { std::terminate(); }
  void set_stopped() && noexcept { std::terminate(); }
  Link* next;
  std::atomic<long>* ran;
};
using Operation = BasicFutureSender<senders::Words, int>::Operation<KeepNext>;

struct Following {
  const char* name;
  void (*run)(long links, std::atomic<long>& ran);
};

template <class Hook>
void follow(long links, std::atomic<long>& ran, const Hook& hook) {
  std::vector<Link> all(static_cast<std::size_t>(links));
  for (std::size_t i = 0; i < all.size(); ++i) {
    hook(all[i], i + 1 < all.size() ? &all[i + 1] : nullptr, ran);
  }
  keep(all.front());
}

constexpr Following kFollowing[] = {
    {"then() of then()",
     [](long links, std::atomic<long>& ran) {
       Future<int> future;
       Promise<int> promise(future);
       for (long i = 0; i < links; ++i) {
         future = std::move(future).then([&ran](int n) {
           ++ran;
           return n;
         });
       }
       promise.set_value(1);
     }},
    {"then() in what follows", continue_ready},
    {"then() in what follows and takes much of the stack", continue_largely},
    {"then() that makes the next result",
     [](long links, std::atomic<long>& ran) {
       follow(links, ran, [](Link& link, Link* next, std::atomic<long>& all) {
         (void)std::move(link.future).then([next, &all](int) {
           ++all;
           if (next != nullptr) keep(*next);
         });
       });
     }},
    {"when_all() that makes the next result",
     [](long links, std::atomic<long>& ran) {
       follow(links, ran, [](Link& link, Link* next, std::atomic<long>& all) {
         std::vector<Future<int>> parts;
         parts.push_back(std::move(link.future));
         parts.push_back(ready_future(1));
         (void)when_all(std::move(parts)).then([next, &all](const std::vector<Future<int>>&) {
           ++all;
           if (next != nullptr) keep(*next);
         });
       });
     }},
    {"a coroutine that makes the next result",
     [](long links, std::atomic<long>& ran) {
       follow(links, ran,
              [](Link& link, Link* next, std::atomic<long>& all) { keep_next(link, next, all); });
     }},
    {"a receiver that makes the next result",
     [](long links, std::atomic<long>& ran) {
       std::vector<std::unique_ptr<Operation>> operations;
       follow(links, ran, [&](Link& link, Link* next, std::atomic<long>& all) {
         operations.push_back(std::make_unique<Operation>(
             detail::FutureAccess::release(link.future), KeepNext{{}, next, &all}));
         operations.back()->start();
       });
     }},
};

TEST(BoundedStack, WhatFollowsResults) {
  const SmallStacks small;
  for (const bool in_a_task : {false, true}) {
    for (const Following& way : kFollowing) {
      SCOPED_TRACE(way.name);
      std::atomic<long> ran{0};
      if (in_a_task) {
        ThreadPool pool(1);
        pool.submit([&] { way.run(links(), ran); }).get();
      } else {
        std::thread([&] { way.run(links(), ran); }).join();
      }
      EXPECT_EQ(ran, links());
    }
  }
}

// What is put off where calls are deep is there for a thread that waits for it, in whichever way:
// in a task and outside; further inside too, as in a task after the end of the program's pool.
TEST(BoundedStack, AWaitDeepInsideFindsWhatWasPutOff) {
  static constexpr long kDeep = 40;
  using Wait = void (*)(ThreadPool& pool, Future<void>& next, Gate& there);
  constexpr Wait kWaits[] = {
      [](ThreadPool&, Future<void>& next, Gate&) { next.get(); },
      [](ThreadPool& pool, Future<void>& next, Gate&) {
        next.get();
        Future<int> another;
        Promise<int> promise(another);
        Gate told;
        const auto tells = std::move(another).then([&told](int) { told.open(); });
        TaskGroup group(pool);
        group.run([&told] { told.wait(); });
        group.run([&promise] { promise.set_value(1); });
        group.wait();
      },
      [](ThreadPool& pool, Future<void>& next, Gate&) {
        pool.submit([&next] { next.get(); }).get();
      },
      [](ThreadPool& pool, Future<void>&, Gate& there) {
        TaskGroup group(pool);
        group.run([&there] { there.wait(); });
        group.wait();
      },
      [](ThreadPool&, Future<void>&, Gate& there) { blocking([&there] { there.wait(); }); },
  };
  const SmallStacks small;
  for (std::size_t i = 0; i < 2 * std::size(kWaits); ++i) {
    const Wait wait = kWaits[i / 2];
    ThreadPool pool(1);
    if (i % 2 != 0) {
      ASSERT_TRUE(detail::engine_of(pool).end());
    }
    const auto run = [&pool, wait] {
      std::atomic<long> ran{0};
      std::function<void(long)> deeper = [&](long left) {
        std::array<volatile char, kStackBytes / 12> large;  // NOLINT(*-member-init): see above
        large.back() = 1;
        Future<int> future;
        Promise<int> promise(future);
        Gate there;
        auto next = std::move(future).then([&](int) {
          ++ran;
          there.open();
        });
        promise.set_value(1);
        wait(pool, next, there);
        if (left > 1) (void)ready_future(1).then([&deeper, left](int) { deeper(left - 1); });
      };
      deeper(kDeep);
      EXPECT_EQ(ran, kDeep);
    };
    std::thread(run).join();
    pool.submit(run).get();
  }
}

// ---- Tasks that wait for tasks ------------------------------------------------------------------

long nested_links() { return test::deep() ? 1'000'000 : test::slow ? 2'000 : 50'000; }

void wait_for_group(ThreadPool& pool, long left) {
  if (left == 0) return;
  TaskGroup group(pool);
  group.run([&pool, left] { wait_for_group(pool, left - 1); });
  group.wait();
}
void wait_for_future(ThreadPool& pool, long left) {
  if (left != 0) pool.submit([&pool, left] { wait_for_future(pool, left - 1); }).get();
}
void wait_for_continuation(ThreadPool& pool, long left) {
  if (left == 0) return;
  pool.submit([] {}).then([&pool, left] { wait_for_continuation(pool, left - 1); }).get();
}

TEST_P(BoundedStackTest, TasksThatWaitForTasks) {
  const SmallStacks small;
  ThreadPool pool(options(1));
  for (const auto way : {wait_for_group, wait_for_future, wait_for_continuation}) {
    pool.submit([&] { way(pool, nested_links()); }).get();
  }
}

// After the end of the program's pool a task runs inside the one that hands it over.
TEST(BoundedStack, TasksAfterTheEndOfTheProgramsPool) {
  const SmallStacks small;
  std::thread([] {
    ThreadPool pool(1);
    ASSERT_TRUE(detail::engine_of(pool).end());
    for (const auto step : {&Chain::post, &Chain::submit, &Chain::submit_and_continue}) {
      chain(pool, nested_links(), step);
    }
  }).join();
}

// Outside the pool, where all seats are taken.
TEST(BoundedStack, AGroupWithoutASeat) {
  const SmallStacks small;
  ThreadPool pool(1);
  std::atomic<int> sitting{0};
  Gate gate;
  const Crew guests(64, [&] {
    const TaskGroup seat(pool);
    ++sitting;
    gate.wait();
  });
  while (sitting != 64) std::this_thread::yield();
  std::thread([&] {
    TaskGroup group(pool);
    long left = nested_links();
    std::function<void()> next = [&] {
      if (--left != 0) group.run([&next] { next(); });
    };
    group.run([&next] { next(); });
    group.wait();
    EXPECT_EQ(left, 0);
  }).join();
  gate.open();
}

}}  // namespace bounded_stack_test
