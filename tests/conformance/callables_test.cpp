// SPDX-License-Identifier: MIT
//
// Callables of all kinds: tasks, results, loops, runs.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <handoff/choice/adaptive_loop.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/overloaded.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/submit_std.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/callables.hpp"
#include "conformance/made.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::callables;
using namespace std::chrono_literals;

struct NoArguments {
  using Arguments = Takes<>;
  static constexpr Needs kNeeds = Needs::nothing;
};
struct ConstItem {
  using Arguments = Takes<const Item&>;
  static constexpr Needs kNeeds = Needs::nothing;
};
struct ConstRange {
  using Arguments = Takes<IndexRange>;
  static constexpr Needs kNeeds = Needs::constant;
};

ThreadPool& pool() {
  static ThreadPool pool(2);
  return pool;
}

// ---- Tasks --------------------------------------------------------------------------------------

struct Post : NoArguments {
  static void call(auto&& f) {
    pool().post(std::forward<decltype(f)>(f));
    pool().wait();
  }
};
struct TryPost : NoArguments {
  static void call(auto&& f) {
    ASSERT_EQ(pool().try_post(std::forward<decltype(f)>(f)), Status::ok);
    pool().wait();
  }
};
struct PostWithOptions : NoArguments {
  static void call(auto&& f) {
    pool().post(std::forward<decltype(f)>(f), {.name = "a name"});
    pool().wait();
  }
};
struct PostAfter : NoArguments {
  static void call(auto&& f) {
    const int before = calls;
    TimerHandle handle = pool().post_after(0s, std::forward<decltype(f)>(f));
    while (calls == before) std::this_thread::yield();
    (void)handle.cancel_and_wait();
  }
};
struct Submit : NoArguments {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) { (void)pool().submit(std::forward<decltype(f)>(f)).get(); }
};
struct SubmitWithOptions : NoArguments {
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    (void)pool().submit(std::forward<decltype(f)>(f), {.priority = Priority::high}).get();
  }
};
struct SubmitWithArgument {
  using Arguments = Takes<Item>;
  static constexpr Needs kNeeds = Needs::nothing;
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) { (void)pool().submit(std::forward<decltype(f)>(f), Item()).get(); }
};
struct SubmitStd {
  using Arguments = Takes<Item>;
  static constexpr Needs kNeeds = Needs::nothing;
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    (void)submit_std(pool(), std::forward<decltype(f)>(f), Item()).get();
  }
};
struct Then {
  using Arguments = Takes<Item>;
  static constexpr Needs kNeeds = Needs::nothing;
  static constexpr bool kCallsRvalues = true;
  static void call(auto&& f) {
    (void)pool().submit([] { return Item(); }).then(std::forward<decltype(f)>(f)).get();
  }
};
struct GroupRun : NoArguments {
  static void call(auto&& f) {
    TaskGroup group(pool());
    group.run(std::forward<decltype(f)>(f));
    group.wait();
  }
};
struct GroupRunAndWait : NoArguments {
  static void call(auto&& f) { TaskGroup(pool()).run_and_wait(std::forward<decltype(f)>(f)); }
};
struct Blocking : NoArguments {
  static void call(auto&& f) { (void)blocking(f); }
};
struct Inline : NoArguments {
  static void call(auto&& f) { (void)InlineExecutor().try_post(std::forward<decltype(f)>(f)); }
};
struct Unique : ConstItem {
  static void call(auto&& f) {
    UniqueFunction<void(const Item&)> function(std::forward<decltype(f)>(f));
    function(Item());
  }
};
struct Copyable {
  using Arguments = Takes<const Item&>;
  static constexpr Needs kNeeds = Needs::copies;
  static void call(auto&& f) {
    const CopyableFunction<void(const Item&)> function(std::forward<decltype(f)>(f));
    function(Item());
  }
};
struct Overloaded : ConstItem {
  static void call(auto&& f) {
    detail::Overloaded<decltype(f), void (*)(int)> both{std::forward<decltype(f)>(f), +[](int) {}};
    const Item item;
    (void)both(item);
  }
};

// ---- Loops and runs -----------------------------------------------------------------------------

template <class E>
struct LoopOverRange {
  using Arguments = Takes<Item&>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& f) {
    E executor = test::made<E>(2);
    std::vector<Item> items(1);
    parallel_for(executor, items, std::forward<decltype(f)>(f));
  }
};
template <class E>
struct LoopOverIterators {
  using Arguments = Takes<const Item&>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& f) {
    E executor = test::made<E>(2);
    const std::vector<Item> items(1);
    parallel_for(executor, items.begin(), items.end(), std::forward<decltype(f)>(f));
  }
};
struct LoopOverIndices {
  using Arguments = Takes<std::size_t>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& f) { parallel_for(pool(), 0, 1, std::forward<decltype(f)>(f)); }
};
struct LoopOverBlocks {
  using Arguments = Takes<IndexRange>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& f) { parallel_for(pool(), 0, 1, std::forward<decltype(f)>(f)); }
};
struct AdaptiveLoopOverRange {
  using Arguments = Takes<Item&>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& f) {
    AdaptiveLoop loop(pool());
    std::vector<Item> items(1);
    parallel_for(loop, items, std::forward<decltype(f)>(f));
  }
};
struct ReduceMap : ConstItem {
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
struct RunOnPool : ConstRange {
  static void call(auto&& f) { pool().run(1, std::forward<decltype(f)>(f)); }
};
struct RunOnTeam : ConstRange {
  static void call(auto&& f) { ThreadTeam(2).run(1, std::forward<decltype(f)>(f)); }
};
struct Operation {
  using Arguments = Takes<std::size_t, std::size_t>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& f) {
    std::atomic<bool> ended{false};
    BulkOperation operation(pool(), 1, std::decay_t<decltype(f)>(std::forward<decltype(f)>(f)),
                            [&](const Tally&) noexcept { ended = true; });
    ASSERT_EQ(operation.start(), Status::ok);
    while (!ended) std::this_thread::yield();
    pool().wait();
  }
};

using TaskPlaces = testing::Types<Post, TryPost, PostWithOptions, PostAfter, Submit,
                                  SubmitWithOptions, SubmitWithArgument, SubmitStd, Then, GroupRun,
                                  GroupRunAndWait, Blocking, Inline, Unique, Copyable, Overloaded>;
using LoopPlaces = testing::Types<LoopOverRange<InlineExecutor>, LoopOverRange<ThreadPool>,
                                  LoopOverRange<ThreadTeam>, LoopOverIterators<InlineExecutor>,
                                  LoopOverIterators<ThreadPool>, LoopOverIterators<ThreadTeam>,
                                  LoopOverIndices, LoopOverBlocks, AdaptiveLoopOverRange, ReduceMap,
                                  RunOnPool, RunOnTeam, Operation>;
}  // namespace

namespace handoff::test::callables {
INSTANTIATE_TYPED_TEST_SUITE_P(Tasks, CallablesTest, TaskPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Loops, CallablesTest, LoopPlaces);

// The canary: a place that forgets its callable.
struct Forgets {
  using Arguments = Takes<>;
  static constexpr Needs kNeeds = Needs::nothing;
  static void call(auto&& /*f*/) {}
};
TEST(Callables, APlaceThatForgetsOneIsFound) {
  EXPECT_NE(Kinds::fault<Forgets>().find("was called 0 times"), std::string::npos);
}
}  // namespace handoff::test::callables
