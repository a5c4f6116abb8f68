// SPDX-License-Identifier: MIT
//
// The runs of a TaskGraph (detail/graph_run.hpp, detail/graph_core.hpp): the counters of the nodes,
// the count of what is busy, and how lanes come, are called, sleep and leave.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <handoff/graph/detail/graph_core.hpp>
#include <handoff/graph/detail/graph_run.hpp>
#include <handoff/graph/graph_limit.hpp>
#include <handoff/graph/task_graph.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/stop_token.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "explore/scenario.hpp"
#include "explore/scenarios/core/shelf.hpp"

namespace task_graph_scenarios { namespace {

using namespace handoff;
using test::LargeScenario;
using test::Scenario;

// Keeps helpers for the threads that run them, which may wait for the first one.
class Shelf {
 public:
  template <class F>
  Status try_post(F&& function) {
    const Status status = helpers_.try_post(std::forward<F>(function));
    if (status == Status::ok) came_.notify_all();
    return status;
  }
  std::size_t width() const { return helpers_.width(); }
  bool run_one(std::size_t place) { return helpers_.run_one(place); }
  void run_first() {
    (void)came_.await([this]() noexcept { return !helpers_.empty(); });
    (void)run_one(0);
  }

 private:
  test::Shelf helpers_{3};
  sync::EventCount came_;
};

// One node makes two ready, which make one: each sees what those before it wrote.
struct Diamond {
  TaskGraph graph;
  sync::cell<int> first{0};
  sync::cell<int> left{0};
  sync::cell<int> right{0};
  sync::cell<int> last{0};

  Diamond() {
    const auto a = graph.add("a", [this] { first.write() += 1; });
    const auto b = graph.add("b", [this] { left.write() = first.read(); }).after(a);
    const auto c = graph.add("c", [this] { right.write() = first.read(); }).after(a);
    graph.add("d", [this] { last.write() = left.read() + right.read(); }).after(b, c);
  }
  void check(const Tally& tally) const {
    explore::check(tally.done == 4 && tally.balanced(), "each node once");
    explore::check(last.read() == 2 * first.read(), "behind both");
  }
};

const Scenario diamond("task_graph/diamond", [] {
  Shelf shelf;
  Diamond diamond;
  explore::Thread helper([&] { explore::outcome(shelf.run_one(0) ? 1 : 0); });
  diamond.check(diamond.graph.run(shelf));
});

// The helper has come before: it looks for work while the caller begins.
const LargeScenario shared("task_graph/shared", [] {
  Shelf shelf;
  TaskGraph graph;
  std::array<sync::cell<int>, 2> cells{};
  const auto a = graph.add("a", [&] { cells[0].write() = 1; });
  const auto b = graph.add("b", [&] { cells[1].write() = 1; });
  graph.add("c", [&] { explore::check(cells[0].read() + cells[1].read() == 2, "both"); })
      .after(a, b);
  explore::Thread helper([&] { shelf.run_first(); });
  explore::check(graph.run(shelf).done == 3, "all");
});

// Nobody works but the executor's thread; this one looks, and waits when it sees the end, or
// sleeps.
const Scenario started("task_graph/started", [] {
  Shelf shelf;
  Diamond diamond;
  explore::Thread helper([&] { shelf.run_first(); });
  GraphRun run = diamond.graph.start(shelf);
  if (run.is_done()) {
    explore::outcome(1);
    explore::check(diamond.last.read() == 2, "what it did is seen");
  }
  diamond.check(run.wait());
  helper.join();
});

// The second helper is called before the first one leaves, and gets the lane that this one gives
// back: what it counts there comes behind what the other one counted.
const Scenario given_back("task_graph/lane_given_back", [] {
  Shelf shelf;
  TaskGraph graph;
  sync::atomic<bool> begun{false};
  sync::atomic<bool> goes_on{false};
  graph.add("a", [&] {
    begun.store(true, sync::order::relaxed);
    while (!goes_on.load(sync::order::relaxed)) sync::pause();
  });
  graph.add("b", [&](NodeContext& here) {
    goes_on.store(true, sync::order::relaxed);
    const sync::atomic<std::uint32_t> nobody(0);  // until the first one has gone, or nearly
    (void)sync::park(nobody, 0, sync::deadline_after(std::chrono::milliseconds(1)),
                     sync::ParkScope::process);
    here.add("c", [] {});
    (void)shelf.run_one(1);
  });
  GraphRun run = graph.start(shelf);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  while (!begun.load(sync::order::relaxed)) sync::pause();
  explore::check(run.wait().done == 3, "all");
  helper.join();
});

// A late helper of the first run comes into the second one, or between them, or after both.
const Scenario again("task_graph/again", [] {
  Shelf shelf;
  Diamond diamond;
  explore::Thread helper([&] { explore::outcome(shelf.run_one(0) ? 1 : 0); });
  diamond.check(diamond.graph.run(shelf));
  diamond.check(diamond.graph.run(shelf));
});

// A value that two share: the last of them destroys it.
const Scenario values("task_graph/values", [] {
  Shelf shelf;
  TaskGraph graph;
  sync::atomic<int> alive{0};
  struct Value {
    explicit Value(sync::atomic<int>& count) : alive(&count) { add(1); }
    Value(Value&& other) noexcept : alive(other.alive) { add(1); }
    ~Value() { add(-1); }
    void add(int one) const noexcept { alive->fetch_add(one, sync::order::relaxed); }
    sync::atomic<int>* alive;
    sync::cell<int> written{7};
  };
  const auto a = graph.add("a", [&] { return Value(alive); });
  const auto read = [](const Value& value) { explore::check(value.written.read() == 7, "whole"); };
  graph.add("b", read, a);
  graph.add("c", read, a);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  explore::check(graph.run(shelf).done == 3, "all");
  explore::check(alive.load(sync::order::relaxed) == 0, "the value ended");
});

// A value that one reads, and the other takes: it moves the value if it is the last.
const Scenario moved("task_graph/moved", [] {
  struct Value {
    Value() = default;
    Value(const Value& other) : written(other.written.read()) {}
    Value(Value&& other) noexcept : written(std::exchange(other.written.write(), 0)) {}
    sync::cell<int> written{7};
  };
  Shelf shelf;
  TaskGraph graph;
  const auto a = graph.add("a", [] { return Value(); });
  const auto check = [](const Value& value) { explore::check(value.written.read() == 7, "whole"); };
  graph.add("b", check, a);
  graph.add("c", [&](Value value) { check(value); }, a);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  explore::check(graph.run(shelf).done == 3, "all");
});

// What depends on a node that throws is dropped by the last thread to come.
const Scenario throws("task_graph/throws", [] {
  Shelf shelf;
  TaskGraph graph;
  const auto a = graph.add("a", [] { throw std::runtime_error("planned"); });
  const auto b = graph.add("b", [] {});
  graph.add("c", [] { explore::check(false, "dropped"); }).after(a, b);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  const Tally tally = graph.run(shelf, {.on_error = [](const TaskFailure&) {}});
  explore::check(tally.failed == 1 && tally.cancelled == 1 && tally.done == 1, "as counted");
  helper.join();
});

// Two runs of one graph share limits of one, which a node asks for in one order, the other in the
// other.
const LargeScenario limited("task_graph/limited", [] {
  Shelf shelf;
  Shelf other;
  TaskGraph graph;
  GraphLimit limits[2]{GraphLimit(1), GraphLimit(1)};
  sync::cell<int> used{0};
  graph.add("a", [&] { used.write() += 1; }).uses(limits[0]).uses(limits[1]);
  graph.add("b", [&] { used.write() += 1; }).uses(limits[1]).uses(limits[0]);
  explore::Thread second([&] { explore::check(graph.run(other).done == 2, "its own"); });
  explore::check(graph.run(shelf).done == 2, "both");
  second.join();
  explore::check(used.read() == 4, "one at a time");
});

// A node that has a place of its first limit, and waits for the only one of the other, which nobody
// gives back but the scenario.
struct Waiting {
  TaskGraph graph;
  GraphLimit first{1};
  GraphLimit limit{1};
  handoff::detail::ParkedNode holder;
  sync::cell<unsigned> used{0};

  Waiting() {
    explore::check(limit.enter(holder), "free");
    graph.add("a", [this] { used.write() += 1; }).uses(limit).uses(first);
  }
  ~Waiting() {
    handoff::detail::ParkedNode second;
    explore::check(limit.enter(holder), "the place is not lost");
    explore::check(!limit.enter(second), "and is one");
    explore::check(first.enter(holder), "nor is that of the first limit");
  }
};

// A cancel against the place that comes: the node has one fate.
const LargeScenario parked("task_graph/withdrawn", [] {
  Shelf shelf;
  Waiting waiting;
  GraphRun run = waiting.graph.start(shelf);
  (void)shelf.run_one(0);
  explore::Thread giver([&] { waiting.limit.leave(); });
  explore::Thread canceller([&] { run.cancel(); });
  const Tally tally = run.wait();
  giver.join();
  canceller.join();
  explore::check(tally.accepted == 1 && tally.done + tally.cancelled == 1, "one fate");
  explore::check(waiting.used.read() == tally.done, "as it is told");
  explore::outcome(tally.done);
});

// A place comes while the only helper leaves, and nobody waits for the run: one is called.
const Scenario admitted("task_graph/admitted", [] {
  Shelf shelf;
  Waiting waiting;
  GraphRun run = waiting.graph.start(shelf);
  explore::Thread giver([&] { waiting.limit.leave(); });
  (void)shelf.run_one(0);
  giver.join();
  for (std::size_t place = 0; place < 3; ++place) (void)shelf.run_one(place);
  explore::check(run.is_done(), "somebody was called");
  (void)run.wait();
});

// The node comes to the limit meanwhile; nobody gives it a place.
const LargeScenario coming("task_graph/withdrawn_as_it_comes", [] {
  Shelf shelf;
  Waiting waiting;
  GraphRun run = waiting.graph.start(shelf);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  run.cancel();
  explore::check(run.wait().cancelled == 1, "left out");
  helper.join();
  waiting.limit.leave();
});

// The waiter sleeps, in the run or in a part of it, and hears of the stop.
const Scenario stopped("task_graph/stopped_at_a_limit", [] {
  Shelf shelf;
  Waiting waiting;
  sync::StopSource source;
  const sync::StopToken token = source.token();
  explore::Thread stopper([&] { source.request_stop(); });
  explore::check(waiting.graph.run(shelf, {.until = token}).cancelled == 1, "left out");
  stopper.join();
  waiting.limit.leave();
});

const LargeScenario part("task_graph/cancelled_in_a_part", [] {
  Shelf shelf;
  Waiting waiting;
  TaskGraph outer;
  outer.add("part", waiting.graph);
  GraphRun run = outer.start(shelf);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  run.cancel();
  explore::check(run.wait().accepted == 1, "it ends");
  helper.join();
  explore::check(waiting.used.read() == 0, "left out");
  waiting.limit.leave();
});

// Nodes that a node adds, and a cancel from outside.
const Scenario added("task_graph/added", [] {
  Shelf shelf;
  TaskGraph graph;
  sync::cell<int> calls{0};
  graph.add("a", [&](NodeContext& here) { here.add("b", [&] { calls.write() += 1; }); });
  GraphRun run = graph.start(shelf);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  run.cancel();
  const Tally tally = run.wait();
  explore::check(tally.balanced() && tally.done + tally.cancelled == tally.accepted, "all");
  explore::check(tally.done == (calls.read() == 0 ? tally.accepted - tally.cancelled : 2), "once");
  explore::outcome(tally.done);
  helper.join();
});

// The graph ends while its helper comes: the last of them ends the run.
const Scenario late("task_graph/late", [] {
  Shelf shelf;
  explore::Thread helper([&] { shelf.run_first(); });
  Diamond diamond;
  auto graph = std::make_optional(std::move(diamond.graph));
  diamond.check(graph->run(shelf));
  graph.reset();
  helper.join();
});

// The graph ends while a run of it does: the last of them ends it.
const Scenario outlived("task_graph/outlived", [] {
  Shelf shelf;
  Diamond diamond;
  auto graph = std::make_optional(std::move(diamond.graph));
  GraphRun run = graph->start(shelf);
  explore::Thread waits([&] {
    diamond.check(run.wait());
    run = {};
  });
  graph.reset();
});

// The graph and its helper end on different threads.
const Scenario dropped("task_graph/dropped", [] {
  auto shelf = std::make_optional<Shelf>();
  {
    Diamond diamond;
    diamond.check(diamond.graph.start(*shelf).wait());
  }
  explore::Thread ends([&] { shelf.reset(); });
});

}}  // namespace task_graph_scenarios
