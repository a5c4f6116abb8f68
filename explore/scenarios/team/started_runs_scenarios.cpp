// SPDX-License-Identifier: MIT
//
// Started runs of a ThreadTeam: the scenarios of docs/design/thread_team.md, "Nobody waits".
#include <handoff/core/bulk.hpp>
#include <handoff/core/internal/gate.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>
#include <handoff/team/detail/turns.hpp>
#include <handoff/team/thread_team.hpp>

#include "explore/freed_run.hpp"
#include "explore/scenario.hpp"

namespace team_started_runs_scenarios { namespace {

using namespace handoff;
using sync::order;
using namespace test;

template <std::size_t count>
using Freed = test::FreedRun<ThreadTeam, count>;

// The team may end first: it waits.
const Scenario freed("started_run/freed", [] {
  Freed<2>::Told told;
  {
    ThreadTeam team({.width = 2});
    Freed<2>::start(team, told);
  }
  explore::check(told.once().done == 2, "each index once");
});

// Two members: the last one out tells, and the other one touches nothing any more.
const Scenario two_members("started_run/two_members", [] {
  Freed<2>::Told told;
  {
    ThreadTeam team({.width = 3});
    Freed<2>::start(team, told);
  }
  explore::check(told.once().done == 2, "each index once");
});

const Scenario waited_for("started_run/waited_for", [] {
  Freed<2>::Told told;
  ThreadTeam team({.width = 2});
  Freed<2>::start(team, told);
  told.await();
  explore::check(told.once().done == 2, "each index once");
});

// A team without members does it at once.
const SingleScenario alone("started_run/alone", [] {
  ThreadTeam team({.width = 1});
  Freed<3>::Told told;
  Freed<3>::start(team, told);
  explore::check(told.once().done == 3, "before start() returns");
});

const SingleScenario none("started_run/no_index", [] {
  struct Nothing final : BulkWork {
    void block(std::size_t, std::size_t) override { explore::check(false, "there is none"); }
    void ended(const Tally& tally) noexcept override {
      explore::check(tally.accepted == 0 && tally.balanced(), "nothing");
      ++times;
    }
    int times = 0;
  } nothing;
  {
    ThreadTeam::BulkStorage storage;
    ThreadTeam team({.width = 2});
    explore::check(team.start(0, nothing, storage) == Status::ok, "taken");
  }
  explore::check(nothing.times == 1, "told once");
});

const Scenario stop("started_run/stop", [] {
  Freed<2>::Told told;
  sync::StopSource source;
  {
    ThreadTeam team({.width = 2});
    explore::Thread stopper([&] { source.request_stop(); });
    Freed<2>::start(team, told, {.block = 1, .until = source.token()});
  }
  const Tally tally = told.once();
  explore::check(tally.done + tally.cancelled == 2, "what has not begun is cancelled");
  explore::outcome(tally.cancelled);
});

// Two at the same moment: one waits for its turn in the queue, and the thread that ends the other
// begins it.
const Scenario two_starters("started_run/two_starters", [] {
  Freed<1>::Told first;
  Freed<1>::Told second;
  {
    ThreadTeam team({.width = 2});
    explore::Thread other([&] { Freed<1>::start(team, second); });
    Freed<1>::start(team, first);
  }
  explore::check(first.once().done == 1 && second.once().done == 1, "each");
});

// A caller beside it: it sleeps until the turn is its own, or it begins the other when it has
// ended.
const Scenario beside_caller("started_run/beside_caller", [] {
  Freed<1>::Told told;
  sync::cell<int> ran{0};
  {
    ThreadTeam team({.width = 2});
    explore::Thread caller([&] {
      const Tally tally = team.run(1, [&](IndexRange) { ran.write() += 1; });
      explore::check(tally.done == 1, "its own");
    });
    Freed<1>::start(team, told);
  }
  explore::check(told.once().done == 1 && ran.read() == 1, "both");
});

// ... by two callers, of whom one at a time is told.
const LargeScenario beside_callers("started_run/beside_callers", [] {
  Freed<1>::Told told;
  sync::cell<int> ran{0};  // one run at a time
  {
    ThreadTeam team({.width = 1});
    const auto call = [&] { (void)team.run(1, [&](IndexRange) { ran.write() += 1; }); };
    explore::Thread second(call);
    explore::Thread third(call);
    Freed<1>::start(team, told);
  }
  explore::check(told.once().done == 1 && ran.read() == 2, "all");
});

// A completion starts its own run again while the team ends: once more, or it is refused.
class Again final : public BulkWork {
 public:
  explicit Again(ThreadTeam& team) : team_(team) {}
  void block(std::size_t, std::size_t) override { ++blocks; }
  void ended(const Tally& tally) noexcept override {
    done += static_cast<int>(tally.done);
    if (++started > 2) return;
    if (team_.start(1, *this, storage_) == Status::ok) return;
    refused = true;
  }
  void start() { explore::check(team_.start(1, *this, storage_) == Status::ok, "taken"); }

  int blocks = 0;
  int done = 0;
  int started = 0;
  bool refused = false;

 private:
  ThreadTeam& team_;
  ThreadTeam::BulkStorage storage_;
};

const Scenario closes("started_run/beside_the_end", [] {
  std::optional<ThreadTeam> team(ThreadTeamOptions{.width = 2});
  Again run(*team);
  run.start();
  team.reset();
  explore::check(run.done == run.blocks, "each run is told of");
  explore::check(run.refused ? run.started == run.done : run.done == 3, "refused, or to its end");
  explore::outcome(static_cast<std::size_t>(run.done));
});

// On a team of one thread a run that is started from inside a run waits for the stack.
const SingleScenario inside("started_run/inside", [] {
  Freed<2>::Told told;
  {
    ThreadTeam team({.width = 1});
    (void)team.run(1, [&](IndexRange) {
      Freed<2>::start(team, told);
      explore::check(told.times.load(order::relaxed) == 0, "not yet");  // order: relaxed
    });
    explore::check(told.once().done == 2, "by the thread that ended the run");
  }
});

// The model has two CPUs: the third and fourth member are beyond them, and all have to come.
const SingleScenario all_come("started_run/all_come", [] {
  test::Meeting meeting(3);
  sync::atomic<int> told{0};
  std::optional<ThreadTeam> team(std::in_place, ThreadTeamOptions{.width = 4});
  BulkOperation run(
      *team, 3, [&meeting](std::size_t, std::size_t) { meeting.come(); },
      [&](const Tally& tally) noexcept {
        told.fetch_add(tally.done == 3 ? 1 : 9, order::relaxed);  // order: relaxed
      },
      {.block = 1});
  explore::check(run.start() == Status::ok, "taken");
  team.reset();  // waits for the run, which ends later
  explore::check(told.load(order::relaxed) == 1, "all three met");  // order: relaxed
});

// Two blocks wait for each other.
void two_come(std::size_t width) {
  test::Meeting meeting(2);
  std::optional<ThreadTeam> team(std::in_place, ThreadTeamOptions{.width = width});
  BulkOperation run(
      *team, 2, [&meeting](std::size_t, std::size_t) { meeting.come(); },
      [](const Tally&) noexcept {}, {.block = 1});
  explore::check(run.start() == Status::ok, "taken");
  team.reset();  // waits for the run, which ends later
}

// Where the watcher is the only one beyond the CPUs it works at once: time stands still while
// anybody can go on.
const SingleScenario watcher_works("started_run/watcher_works", [] {
  const sync::Deadline begin = sync::clock::now();
  two_come(3);
  explore::check(sync::clock::now() == begin, "nobody napped");
});

// Where there are more of them another one does.
const SingleScenario another_works("started_run/another_works", [] { two_come(4); });

}}  // namespace team_started_runs_scenarios
