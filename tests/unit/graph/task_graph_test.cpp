// SPDX-License-Identifier: MIT
//
// TaskGraph: what a graph does with values, orders, conditions, failures, limits and executors.
#include "support/failing.hpp"
#include "support/unheard.hpp"

namespace handoff::test { namespace {

using namespace std::chrono_literals;

// What copies and moves were made of it.
struct Counted {
  explicit Counted(int number) : value(number) {}
  Counted(const Counted& other) : value(other.value) { ++copies; }
  Counted(Counted&& other) noexcept : value(std::exchange(other.value, -1)) {}
  Counted& operator=(const Counted&) = delete;
  ~Counted() = default;
  int value;
  static inline std::atomic<int> copies{0};
};

// Keeps functions until it is told to call or to drop them.
class HoldingExecutor {
 public:
  template <class F>
  Status try_post(F&& function) {
    const std::lock_guard lock(mutex_);
    if (refuses) return Status::full;
    kept.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  std::size_t width() const { return 2; }
  void call_all() {
    for (auto& each : std::exchange(kept, {})) each();
  }
  bool refuses = false;
  std::vector<UniqueFunction<void()>> kept;

 private:
  std::mutex mutex_;
};

class TaskGraphTest : public testing::Test {
 protected:
  ThreadPool pool_{2};
  TaskGraph graph_;
};

std::string misuse_of(const auto& call) {
  try {
    call();
  } catch (const Misuse& wrong) {
    return wrong.what();
  }
  return "";
}

TEST_F(TaskGraphTest, AnEmptyGraphHasNothingToDo) {
  EXPECT_EQ(graph_.run(pool_).accepted, 0U);
  EXPECT_EQ(graph_.size(), 0U);
}

TEST_F(TaskGraphTest, ValuesGoAlongTheEdges) {
  const auto a = graph_.add("a", [] { return 20; });
  const auto b = graph_.add("b", [] { return std::string("xy"); });
  const auto wait = graph_.add("wait", [] {});
  std::string seen;
  graph_.add(
      "sum",
      [&](int x, const std::string& text, std::string_view view) {
        seen = std::to_string(x) + text + std::string(view);
      },
      a, wait, b, b);
  for (int i = 0; i < 100; ++i) {
    seen.clear();
    const Tally tally = graph_.run(pool_);
    EXPECT_EQ(tally.done, 4U);
    EXPECT_TRUE(tally.balanced());
    ASSERT_EQ(seen, "20xyxy");
  }
}

TEST_F(TaskGraphTest, TheLastReaderGetsTheValueMoved) {
  const auto made = graph_.add("made", [] { return Counted(7); });
  const auto first =
      graph_.add("first", [](const Counted& counted) { return counted.value; }, made);
  int taken = 0;
  graph_.add("taker", [&](Counted counted) { taken = counted.value; }, made).after(first);
  Counted::copies = 0;
  graph_.run(pool_);
  EXPECT_EQ(taken, 7);
  EXPECT_EQ(Counted::copies, 0);
}

TEST_F(TaskGraphTest, AReaderThatIsNotTheLastGetsACopy) {
  const auto made = graph_.add("made", [] { return Counted(7); });
  const auto first = graph_.add("first", [](Counted counted) { return counted.value; }, made);
  int both = 0;
  graph_.add("last", [&](int x, Counted&& counted) { both = x + counted.value; }, first, made);
  Counted::copies = 0;
  graph_.run(pool_);
  EXPECT_EQ(both, 14);
  EXPECT_EQ(Counted::copies, 1);
}

TEST_F(TaskGraphTest, WhatCannotBeCopiedHasOneReaderThatTakesIt) {
  const auto made = graph_.add("made", [] { return std::make_unique<int>(3); });
  const auto taken = graph_.add("taken", [](std::unique_ptr<int> value) { return *value; }, made);
  const std::string wrong =
      misuse_of([&] { graph_.add("second", [](const std::unique_ptr<int>&) {}, made); });
  EXPECT_NE(wrong.find("\"second\" is a second reader of what \"made\""), std::string::npos);
  EXPECT_NE(misuse_of([&] { taken.retries(1); }), "");
  const auto shared = graph_.add("shared", [] { return std::make_unique<int>(4); });
  const auto x = graph_.add("x", [](const std::unique_ptr<int>& value) { return *value; }, shared);
  const auto y = graph_.add("y", [](const auto& value) { return *value; }, shared);
  EXPECT_NE(misuse_of([&] { graph_.add("z", [](std::unique_ptr<int>&&) {}, shared); }), "");
  int sum = 0;
  graph_.add("sum", [&](int a, int b, int c) { sum = a + b + c; }, taken, x, y);
  graph_.run(pool_);
  EXPECT_EQ(sum, 11);
}

TEST_F(TaskGraphTest, AValueEndsWithItsLastReader) {
  std::weak_ptr<int> watched;
  const auto made = graph_.add("made", [&] {
    auto value = std::make_shared<int>(1);
    watched = value;
    return value;
  });
  const auto reader = graph_.add("reader", [](const std::shared_ptr<int>&) {}, made);
  bool is_gone = false;
  graph_.add("later", [&] { is_gone = watched.expired(); }).after(reader);
  graph_.run(pool_);
  EXPECT_TRUE(is_gone);
}

TEST_F(TaskGraphTest, AValueThatNobodyReadsIsTheRuns) {
  const auto made = graph_.add("made", [] { return std::string(100, 'x'); });
  const auto read = graph_.add("read", [] { return 1; });
  graph_.add("reader", [](int) {}, read);
  GraphRun first = graph_.start(pool_);
  GraphRun second = graph_.start(pool_);
  EXPECT_EQ(first.wait().done, 3U);
  EXPECT_EQ(second.wait().done, 3U);
  first.value(made) = "mine";
  EXPECT_EQ(second.value(made), std::string(100, 'x'));
  EXPECT_NE(misuse_of([&] { (void)first.value(read); }), "");
}

// Its body is an error where it is called with anything else.
TEST_F(TaskGraphTest, AFunctionOfAnyNumberOfValuesIsANode) {
  const auto a = graph_.add("a", [] { return 4; });
  const auto sum = graph_.add("sum", [](const auto&... values) { return (values + ...); }, a, a);
  graph_.add("adds", [](NodeContext& here) {
    here.add("none", [](auto&&... values) { return std::array{1, (values + 1)...}; });
  });
  GraphRun run = graph_.start(pool_);
  EXPECT_EQ(run.wait().done, 4U);
  EXPECT_EQ(run.value(sum), 8);
}

TEST_F(TaskGraphTest, MembersAndFunctionsAreNodesToo) {
  const auto text = graph_.add("text", [] { return std::string("four"); });
  const auto size = graph_.add("size", &std::string::size, text);
  const auto negated = graph_.add("negated", +[](std::size_t n) noexcept { return -int(n); }, size);
  GraphRun run = graph_.start(pool_);
  run.wait();
  EXPECT_EQ(run.value(negated), -4);
}

TEST_F(TaskGraphTest, ACycleIsRefusedWithItsNames) {
  const auto a = graph_.add("a", [] {});
  const auto b = graph_.add("b", [] {});
  const auto c = graph_.add("c", [] {});
  c.before(b);
  b.before(a);  // against the order in which they were added
  EXPECT_NE(misuse_of([&] { a.before(c); }).find("a -> c -> b -> a"), std::string::npos);
  EXPECT_NE(misuse_of([&] { a.after(a); }).find("a -> a"), std::string::npos);
  std::string order;
  const auto note = [&](const char* name) { return [&order, name] { order += name; }; };
  TaskGraph other;
  const auto x = other.add("x", note("x"));
  const auto y = other.add("y", note("y"));
  const auto z = other.add("z", note("z"));
  z.before(y);
  y.before(x);
  other.run(pool_);
  EXPECT_EQ(order, "zyx");
  EXPECT_NE(misuse_of([&] { x.before(a); }), "");  // of another graph
  EXPECT_NE(misuse_of([] { GraphNode<void>().retries(1); }), "");
  EXPECT_NE(misuse_of([&] { graph_.add("itself", graph_); }), "");
  TaskGraph part;
  TaskGraph parts_part;
  part.add("part", parts_part);
  graph_.add("part", part);
  EXPECT_NE(misuse_of([&] { parts_part.add("whole", graph_); }).find("part of itself"),
            std::string::npos);
  EXPECT_EQ(parts_part.size(), 0U);
}

TEST_F(TaskGraphTest, AnExceptionCancelsWhatDependsOnIt) {
  std::atomic<int> calls{0};
  const auto bad = graph_.add("bad", []() -> int { throw std::runtime_error("no"); });
  const auto next = graph_.add("next", [&](int) { ++calls; }, bad);
  graph_.add("last", [&] { ++calls; }).after(next);
  graph_.add("beside", [&] { ++calls; });
  GraphRun run = graph_.start(pool_);
  EXPECT_THROW(run.wait(), std::runtime_error);
  EXPECT_STREQ(run.failed_node(), "bad");
  const Tally tally = run.wait();  // rethrown once
  EXPECT_THROW(std::rethrow_exception(tally.first_failure), std::runtime_error);
  EXPECT_EQ(tally.accepted, 4U);
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_EQ(tally.cancelled, 2U);
  EXPECT_EQ(tally.done, 1U);
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(graph_.run(pool_), std::runtime_error);
  std::string told;
  const GraphOptions tells{.on_error = [&](const TaskFailure& failure) { told += failure.task; }};
  const Tally heard = graph_.run(pool_, tells);
  EXPECT_EQ(told, "bad");
  EXPECT_EQ(heard.failed, 1U);
  EXPECT_NE(heard.first_failure, nullptr);
  TaskGraph whole;
  whole.add(", part", graph_);
  told.clear();
  EXPECT_EQ(whole.run(pool_, tells).failed, 1U);
  EXPECT_EQ(told, "bad, part");
}

// What a run is waited for, and what came of it, goes with the run.
TEST_F(TaskGraphTest, ARunIsMoved) {
  const Unheard unheard;
  std::atomic<int> rounds{0};
  const auto round = graph_.add("round", [&] { return ++rounds; });
  graph_.add("bad", [&](int) { throw std::runtime_error("no"); }, round);
  const auto kept = graph_.add("kept", [&](int n) { return n; }, round);
  GraphRun run = graph_.start(pool_);
  EXPECT_THROW(run.wait(), std::runtime_error);
  GraphRun moved = std::move(run);
  EXPECT_EQ(moved.value(kept), 1);
  EXPECT_EQ(moved.wait().failed, 1U);
  moved = graph_.start(pool_);
  EXPECT_THROW(moved.wait(), std::runtime_error);
  EXPECT_EQ(moved.value(kept), 2);
  EXPECT_TRUE(Unheard::told().empty());
}

TEST_F(TaskGraphTest, AnOnErrorThatThrowsEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  graph_.add("bad", [] { throw std::runtime_error("no"); });
  const auto fails = [](const TaskFailure&) { throw std::logic_error("in on_error"); };
  EXPECT_DEATH(graph_.run(pool_, {.on_error = fails}), "in on_error");
}

TEST_F(TaskGraphTest, AFailureThatNobodyTakesIsUnheard) {
  const Unheard unheard;
  graph_.add("bad", [] { throw std::runtime_error("no"); });
  {
    const GraphRun run = graph_.start(pool_);
  }
  ASSERT_EQ(Unheard::told().size(), 1U);
  EXPECT_NE(Unheard::told()[0].find("bad"), std::string::npos);
}

TEST_F(TaskGraphTest, ANodeIsTriedAgain) {
  std::atomic<int> tries{0};
  const auto text = graph_.add("text", [] { return std::string("whole"); });
  const auto node = graph_.add(
      "flaky",
      [&](std::string given) {
        if (++tries < 3) throw std::runtime_error("not yet");
        return given;
      },
      text);
  node.retries(2);
  GraphRun run = graph_.start(pool_);
  EXPECT_EQ(run.wait().failed, 0U);
  EXPECT_EQ(run.value(node), "whole");
  node.retries(1);
  tries = 0;
  EXPECT_THROW(graph_.run(pool_), std::runtime_error);
  EXPECT_EQ(tries, 2);
}

TEST_F(TaskGraphTest, AfterAStopAFailedNodeIsTriedOnceMore) {
  std::atomic<int> tries{0};
  GraphRun* started = nullptr;
  std::atomic<bool> is_there{false};
  const auto node = graph_.add("flaky", [&] {
    while (!is_there) std::this_thread::yield();
    if (++tries == 2) started->cancel();
    throw std::runtime_error("never");
  });
  node.retries(1'000'000);
  GraphRun run = graph_.start(pool_);
  started = &run;
  is_there = true;
  EXPECT_THROW((void)run.wait(), std::runtime_error);
  EXPECT_EQ(tries, 3);
}

TEST_F(TaskGraphTest, RunsSoOftenAsAsked) {
  std::atomic<int> calls{0};
  graph_.add("one", [&] { ++calls; });
  EXPECT_EQ(graph_.run_n(pool_, 5).done, 5U);
  EXPECT_EQ(graph_.run_n(pool_, 0).accepted, 0U);
  EXPECT_EQ(graph_.run_until(pool_, [&] { return calls == 8; }).done, 3U);
  graph_
      .add("bad",
           [&] {
             if (calls >= 9) throw std::runtime_error("no");
           })
      .after(graph_.add("two", [&] { ++calls; }));
  EXPECT_THROW(graph_.run_n(pool_, 100), std::runtime_error);
  EXPECT_LE(calls, 12);
}

TEST_F(TaskGraphTest, ASecondRunAllocatesNothing) {
  std::atomic<int> sum{0};
  std::vector<GraphNode<int>> nodes{graph_.add("0", [] { return 1; })};
  for (int i = 1; i < 500; ++i) {
    const auto before = nodes[static_cast<std::size_t>(i / 3)];
    nodes.push_back(graph_.add("n", [&](int x) { return sum += x, x; }, before));
  }
  GraphLimit limit(1);
  GraphLimit second(1);
  for (std::size_t i = 100; i < 200; ++i) {
    nodes[i].uses(limit).uses(second).priority(Priority::high);
  }
  for (int i = 0; i < 50; ++i) graph_.run(pool_);  // the pool has its own first time
  sync::StopSource source;
  const auto token = source.token();
  // A helper that is late still has its run, and the next one needs another: that is made once.
  bool has_allocated = true;
  for (int i = 0; has_allocated && i < 20; ++i) {
    fail_after(Call::allocation, 0, ENOMEM);
    graph_.run_n(pool_, 20, {.until = token});
    has_allocated = stop_failing(Call::allocation);
  }
  EXPECT_FALSE(has_allocated);
}

TEST_F(TaskGraphTest, AConditionChoosesOneOfItsSuccessors) {
  std::string order;
  int rounds = 0;
  const auto begin = graph_.add("begin", [&] { order += 'b'; });
  const auto body = graph_.add("body", [&] { return ++rounds; }, begin);
  const auto again = graph_.add("again", [&](int round) { return round < 4; }, body);
  const auto end = graph_.add("end", [&] { order += 'e'; });
  again.chooses(end, body);
  graph_.add("after", [&] { order += 'a'; }).after(end);
  for (int i = 0; i < 3; ++i) {
    order.clear();
    rounds = 0;
    const Tally tally = graph_.run(pool_);
    EXPECT_EQ(order, "bea");
    EXPECT_EQ(rounds, 4);
    EXPECT_EQ(tally.done, 1U + 4 + 4 + 1 + 1);
    EXPECT_TRUE(tally.balanced());
  }
}

TEST_F(TaskGraphTest, AConditionMayChooseNone) {
  int calls = 0;
  const auto which = graph_.add("which", [] { return 7; });
  const auto a = graph_.add("a", [&] { ++calls; });
  which.chooses(a);
  EXPECT_EQ(graph_.run(pool_).accepted, 1U);
  EXPECT_EQ(calls, 0);
  TaskGraph all_chosen;
  const auto x = all_chosen.add("x", [] { return 0; });
  x.chooses(x);
  EXPECT_NE(misuse_of([&] { all_chosen.run(pool_); }).find("no node begins"), std::string::npos);
}

TEST_F(TaskGraphTest, WhatIsChosenWithoutItsInputFails) {
  const auto which = graph_.add("which", [] { return 1; });
  const auto made = graph_.add("made", [] { return 5; });
  const auto reader = graph_.add("reader", [](int) {}, made);
  which.chooses(made, reader);
  EXPECT_NE(misuse_of([&] { graph_.run(pool_); }).find("\"reader\" was chosen, but what \"made\""),
            std::string::npos);
}

// The loop goes on before "late" has read, whose turns are behind each other in the only lane.
TEST_F(TaskGraphTest, WhatALoopMakesAnewTooEarlyFails) {
  InlineExecutor here;
  int rounds = 0;
  const auto begin = graph_.add("begin", [] {});
  const auto step = graph_.add("step", [&] { return ++rounds; }).after(begin);
  const auto more = graph_.add("more", [](int round) { return round < 3; }, step);
  graph_.add("late", [](int) {}, step);
  more.chooses(graph_.add("end", [] {}), step);
  EXPECT_NE(misuse_of([&] { graph_.run(here); }).find("\"late\" begins, but what \"step\""),
            std::string::npos);
}

TEST_F(TaskGraphTest, StopsAndDeadlinesLeaveOutWhatHasNotBegun) {
  std::stop_source stop;
  int calls = 0;
  const auto first = graph_.add("first", [&](NodeContext& here) {
    EXPECT_STREQ(here.name(), "first");
    EXPECT_FALSE(here.stop_requested());
    stop.request_stop();
    EXPECT_TRUE(here.stop_requested());
  });
  const auto second = graph_.add("second", [&] { ++calls; }).after(first);
  graph_.add("third", [&] { ++calls; }).after(second);
  Tally tally = graph_.run(pool_, {.until = stop.get_token()});
  EXPECT_EQ(tally.done, 1U);
  EXPECT_EQ(tally.cancelled, 2U);
  tally = graph_.run(pool_, {.until = -1s});
  EXPECT_EQ(tally.expired, 3U);
  EXPECT_EQ(calls, 0);
}

TEST_F(TaskGraphTest, ACancelledRunEnds) {
  std::atomic<bool> runs{false};
  std::atomic<bool> goes_on{false};
  const auto first = graph_.add("first", [&] {
    runs = true;
    runs.notify_all();
    goes_on.wait(false);
  });
  graph_.add("second", [] {}).after(first);
  GraphRun run = graph_.start(pool_);
  runs.wait(false);
  EXPECT_FALSE(run.is_done());
  run.cancel();
  goes_on = true;
  goes_on.notify_all();
  EXPECT_EQ(run.wait().cancelled, 1U);
  EXPECT_TRUE(run.is_done());
}

TEST_F(TaskGraphTest, ALimitHoldsBackNodes) {
  GraphLimit limit(2);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const auto body = [&] {
    const int now = ++inside;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --inside;
  };
  ThreadPool wide(4);
  TaskGraph other;
  for (int i = 0; i < 40; ++i) graph_.add("n", body).uses(limit);
  for (int i = 0; i < 40; ++i) other.add("n", body).uses(limit);
  for (int i = 0; i < 20; ++i) {
    GraphRun first = graph_.start(wide);
    GraphRun second = other.start(wide);
    EXPECT_EQ(first.wait().done, 40U);
    EXPECT_EQ(second.wait().done, 40U);
  }
  EXPECT_LE(most, 2);
  EXPECT_NE(misuse_of([] { GraphLimit none(0); }), "");
}

TEST_F(TaskGraphTest, ANodeWaitsForEachOfItsLimits) {
  GraphLimit one(1);
  GraphLimit two(2);
  std::array<std::atomic<int>, 2> inside{};
  std::atomic<bool> too_many = false;
  ThreadPool wide(4);
  TaskGraph other;
  const auto body = [&](bool first, bool second) {
    return [&, first, second] {
      if ((first && ++inside[0] > 1) || (second && ++inside[1] > 2)) too_many = true;
      std::this_thread::yield();
      inside[0] -= first ? 1 : 0;
      inside[1] -= second ? 1 : 0;
    };
  };
  for (int i = 0; i < 40; ++i) {
    graph_.add("both", body(true, true)).uses(one).uses(two).uses(one);
    other.add("both", body(true, true)).uses(two).uses(one);
    other.add("two", body(false, true)).uses(two);
  }
  for (std::size_t i = rounds(20); i != 0; --i) {
    GraphRun first = graph_.start(wide);
    GraphRun second = other.start(wide);
    GraphRun stopped = other.start(wide);
    stopped.cancel();
    ASSERT_EQ(first.wait().done, 40U);
    ASSERT_EQ(second.wait().done, 80U);
    ASSERT_EQ(stopped.wait().accepted, 80U);
  }
  EXPECT_FALSE(too_many);
}

// A place of a limit that is taken as long as this is there.
class TakenPlace {
 public:
  explicit TakenPlace(GraphLimit& limit) : limit_(limit) { EXPECT_TRUE(limit.enter(unused_)); }
  TakenPlace(const TakenPlace&) = delete;
  TakenPlace& operator=(const TakenPlace&) = delete;
  ~TakenPlace() { limit_.leave(); }

 private:
  GraphLimit& limit_;
  detail::ParkedNode unused_;
};

TEST_F(TaskGraphTest, ARunThatIsOverWaitsForNoLimit) {
  GraphLimit limit(1);
  sync::StopSource source;
  const TakenPlace taken(limit);
  TaskGraph part;
  part.add("limited", [] { FAIL(); }).uses(limit);
  graph_.add("next", [] { FAIL(); }).after(graph_.add("part", part));
  for (TaskGraph* const graph : {&part, &graph_}) {
    EXPECT_EQ(graph->run(pool_, {.until = 2ms}).expired, 1U);
    sync::StopSource stop;
    GraphRun waited = graph->start(pool_, {.until = stop.token()});
    std::thread stopper([&] { stop.request_stop(); });
    EXPECT_GE(waited.wait().cancelled, 1U);
    stopper.join();
    GraphRun cancelled = graph->start(pool_);
    std::thread canceller([&] { cancelled.cancel(); });
    EXPECT_GE(cancelled.wait().cancelled, 1U);
    canceller.join();
  }
  // Without a wait(): is_done() takes its nodes out.
  for (const KeptUntil& until : {KeptUntil(2ms), KeptUntil(source.token())}) {
    GraphRun asked = part.start(pool_, {.until = until});
    EXPECT_TRUE(until.has_deadline() || !asked.is_done());
    if (!until.has_deadline()) source.request_stop();
    while (!asked.is_done()) std::this_thread::yield();
    EXPECT_EQ(asked.wait().done, 0U);
  }
}

TEST_F(TaskGraphTest, ACancelledRunLeavesTheOrderAtALimit) {
  InlineExecutor here;
  GraphLimit limit(1);
  std::string order;
  graph_.add("limited", [&] { order += 'r'; }).uses(limit);
  for (const std::size_t left_out : {0U, 1U, 2U}) {
    std::vector<GraphRun> runs;
    {
      const TakenPlace taken(limit);
      for (int i = 0; i < 3; ++i) runs.push_back(graph_.start(here));
      runs[left_out].cancel();
      EXPECT_TRUE(runs[left_out].is_done());
      EXPECT_EQ(order, "");
    }
    EXPECT_EQ(std::exchange(order, ""), "rr");
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(runs[i].wait().cancelled, i == left_out ? 1U : 0U);
    }
  }
  EXPECT_EQ(graph_.run(here).done, 1U);
}

TEST_F(TaskGraphTest, ACancelRacesWithTheHandOverOfAPlace) {
  GraphLimit limit(1);
  std::atomic<unsigned> calls{0};
  for (int i = 0; i < 6; ++i) graph_.add("limited", [&] { ++calls; }).uses(limit);
  for (std::size_t i = rounds(3000); i != 0; --i) {
    GraphRun first = graph_.start(pool_);
    std::thread canceller([&] { first.cancel(); });
    sync::StopSource stop;
    GraphRun second = graph_.start(pool_, {.until = stop.token()});
    stop.request_stop();
    GraphRun third = graph_.start(pool_);
    unsigned done = 0;
    for (GraphRun* const run : {&first, &second, &third}) {
      const Tally tally = run->wait();
      ASSERT_EQ(tally.done + tally.cancelled, 6U);
      done += static_cast<unsigned>(tally.done);
    }
    canceller.join();
    ASSERT_EQ(third.wait().done, 6U);
    ASSERT_EQ(calls.exchange(0), done);
  }
}

TEST_F(TaskGraphTest, ALimitInsideItselfIsMisuse) {
  GraphLimit limit(2);
  TaskGraph innermost;
  innermost.add("in", [] {}).uses(limit);
  TaskGraph middle;
  middle.add("middle", [&](NodeContext& here) {
    here.add("added", [&](NodeContext& added) { added.run(innermost); });
  });
  const auto outer = graph_.add("out", middle);
  EXPECT_EQ(graph_.run(pool_).done, 1U);
  outer.uses(limit);
  const std::string message = R"("out" has a place of a GraphLimit, and "in")";
  const std::string said = misuse_of([&] { graph_.run(pool_); });
  EXPECT_NE(said.find(message), std::string::npos) << said;
  // In a run of its own, in a graph that uses other limits.
  GraphLimit other(1);
  TaskGraph whole;
  TaskGraph inner;
  inner.add("inner", [&] { innermost.run(pool_); }).uses(other);
  whole.add("out", [&] { inner.run(pool_); }).uses(other);
  EXPECT_NE(misuse_of([&] { whole.run(pool_); }), "");
  TaskGraph fits;
  fits.add("out", [&] { innermost.run(pool_); }).uses(other);
  EXPECT_EQ(fits.run(pool_).done, 1U);
  fits.add("out", [&] { innermost.run(pool_); }).uses(other).uses(limit);
  EXPECT_NE(misuse_of([&] { fits.run(pool_); }).find(message), std::string::npos);
  EXPECT_EQ(innermost.run(pool_).done, 1U);
}

TEST_F(TaskGraphTest, UrgentNodesComeFirst) {
  InlineExecutor here;
  std::string order;
  const auto first = graph_.add("first", [] {});
  const auto add = [&](char name, Priority priority) {
    graph_.add("n", [&order, name] { order += name; }).after(first).priority(priority);
  };
  add('l', Priority::low);
  add('n', Priority::normal);
  add('h', Priority::high);
  add('u', Priority::urgent);
  graph_.run(here);
  EXPECT_EQ(order, "uhnl");
}

TEST_F(TaskGraphTest, UrgentNodesBeginARun) {
  InlineExecutor here;
  std::string order;
  const auto add = [&](char name, Priority priority) {
    return graph_.add("n", [&order, name] { order += name; }).priority(priority);
  };
  add('l', Priority::low);
  add('n', Priority::normal);
  add('m', Priority::normal);
  add('h', Priority::high);
  add('s', Priority::normal).after(add('u', Priority::urgent));
  graph_.run(here);
  graph_.start(here).wait();
  EXPECT_EQ(order, "uhsnmluhsnml");
}

TEST_F(TaskGraphTest, AGraphIsAPartOfOthers) {
  std::atomic<int> calls{0};
  TaskGraph part;
  const auto inner = part.add("inner", [&] { ++calls; });
  part.add("inner 2", [&] { ++calls; }).after(inner);
  TaskGraph other;
  const auto before = graph_.add("before", [&] {
    EXPECT_EQ(calls, 0);
    return 1;
  });
  const auto module = graph_.add("part", part, before);
  graph_.add("behind", [&] { EXPECT_EQ(calls, 2); }).after(module);
  other.add("part", part);
  other.add("part again", part);
  EXPECT_EQ(graph_.run(pool_).done, 3U);
  EXPECT_EQ(other.run(pool_).done, 2U);
  EXPECT_EQ(calls, 6);
  part.add("bad", [] { throw std::runtime_error("inside"); });
  EXPECT_THROW(other.run(pool_), std::runtime_error);
}

TEST_F(TaskGraphTest, ANodeMakesAndRunsAGraph) {
  std::atomic<int> calls{0};
  std::stop_source stop;
  graph_.add("outer", [&](NodeContext& here) {
    TaskGraph made;
    const auto a = made.add("a", [&] { ++calls; });
    for (int i = 0; i < 50; ++i) made.add("b", [&] { ++calls; }).after(a);
    EXPECT_EQ(here.run(made).done, 51U);
    stop.request_stop();
    EXPECT_EQ(here.run(made).cancelled, 51U);
  });
  graph_.run(pool_, {.until = stop.get_token()});
  EXPECT_EQ(calls, 51);
}

TEST_F(TaskGraphTest, ANodeAddsNodesToItsRun) {
  std::atomic<int> calls{0};
  graph_.add("first", [&](NodeContext& here) {
    for (int i = 0; i < 10; ++i) {
      here.add("more", [&calls, i](NodeContext& inner) {
        ++calls;
        if (i == 3) inner.add("yet more", [&] { ++calls; });
      });
    }
  });
  EXPECT_EQ(graph_.run(pool_).done, 12U);
  EXPECT_EQ(calls, 11);
  graph_.add("bad", [](NodeContext& here) { here.add("worse", [] { throw 1; }); });
  GraphRun run = graph_.start(pool_);
  EXPECT_THROW(run.wait(), int);
  EXPECT_STREQ(run.failed_node(), "worse");
}

TEST_F(TaskGraphTest, WhatIsAddedDuringARunBelongsToTheNext) {
  std::atomic<int> calls{0};
  graph_.add("first", [&] { graph_.add("more", [&] { ++calls; }); });
  EXPECT_EQ(graph_.run(pool_).done, 1U);
  EXPECT_EQ(graph_.run(pool_).done, 2U);
  EXPECT_EQ(calls, 1);
}

TEST_F(TaskGraphTest, ManyRunsAtATime) {
  const auto a = graph_.add("a", [] { return 1; });
  const auto b = graph_.add("b", [](int x) { return x + 1; }, a);
  const auto c = graph_.add("c", [](int x, int y) { return x + y; }, a, b);
  for (int round = 0; round < 20; ++round) {
    std::vector<GraphRun> runs;
    for (int i = 0; i < 10; ++i) runs.push_back(graph_.start(pool_));
    for (GraphRun& run : runs) {
      EXPECT_EQ(run.wait().done, 3U);
      EXPECT_EQ(run.value(c), 3);
    }
  }
}

TEST_F(TaskGraphTest, RunsGoOnWithoutTheirGraph) {
  std::optional<TaskGraph> graph(std::in_place);
  std::atomic<bool> goes_on{false};
  int calls = 0;
  const auto first = graph->add("first", [&] { goes_on.wait(false); });
  graph->add("second", [&] { ++calls; }).after(first);
  GraphRun run = graph->start(pool_);
  TaskGraph moved = std::move(*graph);
  EXPECT_NE(misuse_of([&] { (void)graph->size(); }), "");
  graph.reset();
  EXPECT_EQ(moved.size(), 2U);
  moved = TaskGraph();
  goes_on = true;
  goes_on.notify_all();
  GraphRun same = std::move(run);
  EXPECT_EQ(same.wait().done, 2U);
  EXPECT_EQ(calls, 1);
  EXPECT_NE(misuse_of([&] { (void)run.wait(); }), "");
}

TEST_F(TaskGraphTest, AnyExecutorWillDo) {
  std::atomic<int> calls{0};
  const auto a = graph_.add("a", [&] { ++calls; });
  for (int i = 0; i < 20; ++i) graph_.add("b", [&] { ++calls; }).after(a);
  InlineExecutor here;
  graph_.run(here);
  graph_.start(here).wait();
  HoldingExecutor holding;
  graph_.run(holding);  // which never calls
  EXPECT_EQ(calls, 63);
  graph_.start(holding).wait();
  EXPECT_EQ(calls, 84);
  holding.call_all();  // too late: they find it closed
  {
    GraphRun run = graph_.start(holding);
    EXPECT_EQ(calls, 84);
    holding.call_all();
    EXPECT_TRUE(run.is_done());
  }
  EXPECT_EQ(calls, 105);
  {
    const GraphRun run = graph_.start(holding);
    holding.kept.clear();  // dropped uncalled
  }
  EXPECT_EQ(calls, 126);
  holding.kept.clear();
  holding.refuses = true;
  const GraphRun run = graph_.start(holding);
  EXPECT_TRUE(run.is_done());
  EXPECT_EQ(calls, 147);
  pool_.close();
  graph_.run(pool_);
  EXPECT_EQ(calls, 168);
}

TEST_F(TaskGraphTest, TheSameRunsServeSeveralExecutors) {
  const auto a = graph_.add("a", [] { return std::this_thread::get_id(); });
  HoldingExecutor never;
  InlineExecutor here;
  for (int i = 0; i < 10; ++i) {
    GraphRun run = graph_.start(never);
    run.wait();
    GraphRun other = graph_.start(here);
    other.wait();
    EXPECT_EQ(other.value(a), std::this_thread::get_id());
  }
}

TEST_F(TaskGraphTest, InATaskOfItsPool) {
  ThreadPool one(1);
  const auto a = graph_.add("a", [] { return 1; });
  const auto b = graph_.add("b", [](int x) { return x + 1; }, a);
  auto future = one.submit([&] {
    GraphRun run = graph_.start(one);
    run.wait();
    return run.value(b);
  });
  EXPECT_EQ(future.get(), 2);
}

TEST_F(TaskGraphTest, ATaskComesAfterFutures) {
  auto a = pool_.submit([] { return std::make_unique<int>(3); });
  auto nothing = pool_.submit([] {});
  auto b = pool_.submit([] { return 4; });
  auto sum = pool_.submit(after(std::move(a), std::move(nothing), std::move(b)),
                          [](std::unique_ptr<int> x, int y) { return *x + y; });
  EXPECT_EQ(sum.get(), 7);
  auto bad = pool_.submit([]() -> int { throw std::runtime_error("no"); });
  auto never = pool_.submit(after(std::move(bad)), [](int x) { return x; });
  EXPECT_THROW(never.get(), std::runtime_error);
}

TEST_F(TaskGraphTest, DotHasNamesTimesAndTheCriticalPath) {
  const auto a = graph_.add("a \"b\"\\", [] {
    std::this_thread::sleep_for(1ms);
    return true;
  });
  const auto b = graph_.add("b", [] {});
  const auto c = graph_.add("c", [](bool) {}, a);
  c.after(b);
  a.chooses(c);
  EXPECT_EQ(graph_.to_dot().find("us"), std::string::npos);
  graph_.run(pool_, {.timed = true});
  const std::string dot = graph_.to_dot();
  EXPECT_NE(dot.find("n0 [label=\"a \\\"b\\\"\\\\\\n"), std::string::npos);
  EXPECT_NE(dot.find("us\", shape=diamond, color=red"), std::string::npos);
  EXPECT_NE(dot.find("n0 -> n2 [color=red]"), std::string::npos);
  EXPECT_NE(dot.find("n1 -> n2 [style=dashed]"), std::string::npos);
  EXPECT_NE(dot.find("n0 -> n2 [style=dotted, label=\"0\"]"), std::string::npos);
}

TEST_F(TaskGraphTest, WithoutMemoryItIsAsBefore) {
  const auto a = graph_.add("a", [] { return 1; });
  const auto run_all = [&] {
    try {
      graph_.add("b", [](int) {}, a).after(a);
      graph_.start(pool_).wait();
    } catch (const std::bad_alloc&) {
    }
  };
  EXPECT_GT(until_whole(Call::allocation, ENOMEM, run_all,
                        [&] {
                          const std::size_t nodes = graph_.size();
                          EXPECT_EQ(graph_.run(pool_).done, nodes);
                        }),
            3);
}

}}  // namespace handoff::test
