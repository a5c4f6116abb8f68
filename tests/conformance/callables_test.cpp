// SPDX-License-Identifier: MIT
//
// Callables of all kinds: tasks, results, loops, runs.
#include "conformance/callables.hpp"
#include "conformance/made.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::callables;
using namespace std::chrono_literals;

ThreadPool& pool() {
  static ThreadPool pool(2);
  return pool;
}

// ---- Tasks --------------------------------------------------------------------------------------

struct Post : Place<> {
  static void call(auto&& f) {
    pool().post(std::forward<decltype(f)>(f));
    pool().wait();
  }
};
struct TryPost : Place<> {
  static void call(auto&& f) {
    accepted(pool().try_post(std::forward<decltype(f)>(f)));
    pool().wait();
  }
};
struct PostWithOptions : Place<> {
  static void call(auto&& f) {
    pool().post(std::forward<decltype(f)>(f), {.name = "a name"});
    pool().wait();
  }
};
struct PostAfter : Place<> {
  static void call(auto&& f) {
    const int before = calls;
    TimerHandle handle = pool().post_after(0s, std::forward<decltype(f)>(f));
    while (calls == before) std::this_thread::yield();
    (void)handle.cancel_and_wait();
  }
};
struct Submit : Place<> {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) { (void)pool().submit(std::forward<decltype(f)>(f)).get(); }
};
struct SubmitWithOptions : Place<> {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    (void)pool().submit(std::forward<decltype(f)>(f), {.priority = Priority::high}).get();
  }
};
struct SubmitWithArgument : Place<Item> {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) { (void)pool().submit(std::forward<decltype(f)>(f), Item()).get(); }
};
struct SubmitStd : Place<Item> {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    (void)submit_std(pool(), std::forward<decltype(f)>(f), Item()).get();
  }
};
struct Then : Place<Item> {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    (void)pool().submit([] { return Item(); }).then(std::forward<decltype(f)>(f)).get();
  }
};
struct ThenOnStrand : Place<Item> {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    SerialExecutor strand(pool());
    (void)pool().submit([] { return Item(); }).then(strand, std::forward<decltype(f)>(f)).get();
  }
};
struct PostOnLoop : Place<> {
  static void call(auto&& f) {
    LoopExecutor loop;
    loop.post(std::forward<decltype(f)>(f));
    once(loop.drain());
  }
};
struct GroupRun : Place<> {
  static void call(auto&& f) {
    TaskGroup group(pool());
    group.run(std::forward<decltype(f)>(f));
    group.wait();
  }
};
struct GroupRunAndWait : Place<> {
  static void call(auto&& f) { TaskGroup(pool()).run_and_wait(std::forward<decltype(f)>(f)); }
};
struct Blocking : Place<> {
  static void call(auto&& f) { (void)blocking(f); }
};
struct Inline : Place<> {
  static void call(auto&& f) { (void)InlineExecutor().try_post(std::forward<decltype(f)>(f)); }
};
struct Unique : Place<const Item&> {
  static void call(auto&& f) {
    UniqueFunction<void(const Item&)> function(std::forward<decltype(f)>(f));
    function(Item());
  }
};
struct Copyable : Place<const Item&> {
  static constexpr Needs kNeeds = Needs::copies;
  static void call(auto&& f) {
    const CopyableFunction<void(const Item&)> function(std::forward<decltype(f)>(f));
    function(Item());
  }
};
struct Overloaded : Place<const Item&> {
  static void call(auto&& f) {
    detail::Overloaded<decltype(f), void (*)(int)> both{std::forward<decltype(f)>(f), +[](int) {}};
    const Item item;
    (void)both(item);
  }
};

// ---- Loops and runs -----------------------------------------------------------------------------

template <class E>
struct LoopOverRange : Place<Item&> {
  static void call(auto&& f) {
    E executor = test::made<E>(2);
    std::vector<Item> items(1);
    parallel_for(executor, items, std::forward<decltype(f)>(f));
  }
};
template <class E>
struct LoopOverIterators : Place<const Item&> {
  static void call(auto&& f) {
    E executor = test::made<E>(2);
    const std::vector<Item> items(1);
    parallel_for(executor, items.begin(), items.end(), std::forward<decltype(f)>(f));
  }
};
struct LoopOverIndices : Place<std::size_t> {
  static void call(auto&& f) { parallel_for(pool(), 0, 1, std::forward<decltype(f)>(f)); }
};
struct LoopOverBlocks : Place<IndexRange> {
  static void call(auto&& f) { parallel_for(pool(), 0, 1, std::forward<decltype(f)>(f)); }
};
struct ReduceMap : Place<const Item&> {
  struct Sum {
    Sum() = default;
    Sum(Status /*mapped*/) {}  // NOLINT(google-explicit-constructor)
    Sum(int /*mapped*/) {}  // NOLINT(google-explicit-constructor)
  };
  static void call(auto&& f) {
    const std::vector<Item> items(1);
    (void)parallel_reduce(pool(), items, Sum(), std::forward<decltype(f)>(f),
                          [](Sum, Sum) { return Sum(); });
  }
};
struct RunOnPool : ConstPlace<IndexRange> {
  static void call(auto&& f) { pool().run(1, std::forward<decltype(f)>(f)); }
};
struct RunOnTeam : ConstPlace<IndexRange> {
  static void call(auto&& f) { ThreadTeam(2).run(1, std::forward<decltype(f)>(f)); }
};
struct Operation : Place<std::size_t, std::size_t> {
  static void call(auto&& f) {
    std::atomic<bool> ended{false};
    BulkOperation operation(pool(), 1, std::decay_t<decltype(f)>(std::forward<decltype(f)>(f)),
                            [&](const Tally&) noexcept { ended = true; });
    accepted(operation.start());
    while (!ended) std::this_thread::yield();
    pool().wait();
  }
};

using TaskPlaces =
    testing::Types<Post, TryPost, PostWithOptions, PostAfter, Submit, SubmitWithOptions,
                   SubmitWithArgument, SubmitStd, Then, ThenOnStrand, PostOnLoop, GroupRun,
                   GroupRunAndWait, Blocking, Inline, Unique, Copyable, Overloaded>;
using LoopPlaces =
    testing::Types<LoopOverRange<InlineExecutor>, LoopOverRange<ThreadPool>,
                   LoopOverRange<ThreadTeam>, LoopOverIterators<InlineExecutor>,
                   LoopOverIterators<ThreadPool>, LoopOverIterators<ThreadTeam>, LoopOverIndices,
                   LoopOverBlocks, ReduceMap, RunOnPool, RunOnTeam, Operation>;
}  // namespace

namespace handoff::test::callables {
INSTANTIATE_TYPED_TEST_SUITE_P(Tasks, CallablesTest, TaskPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Loops, CallablesTest, LoopPlaces);

// The canary: a place that forgets its callable.
struct Forgets : Place<> {
  static void call(auto&& /*f*/) {}
};
TEST(Callables, APlaceThatForgetsOneIsFound) {
  EXPECT_NE(Kinds::fault<Forgets>().find("was called 0 times"), std::string::npos);
}
}  // namespace handoff::test::callables
