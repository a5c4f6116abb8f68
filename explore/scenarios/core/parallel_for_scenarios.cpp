// SPDX-License-Identifier: MIT
//
// The leader of loops (detail/range_run.hpp), which accounts for each index once; and loops on
// executors that know nothing of them (detail/lent_loop.hpp): a late member finds a closed gate,
// and the last to let go ends the loop.
#include <handoff/core/detail/lent_loop.hpp>
#include <handoff/core/internal/gate.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/core/shelf.hpp"

namespace parallel_for_scenarios { namespace {

using namespace handoff;
using namespace test;

// Two members beside a stop, and a block that throws.
void account(detail::AtFailure at_failure) {
  detail::RangeRun run;
  sync::StopSource source;
  const sync::StopToken token = source.token();
  std::array<sync::cell<int>, 4> times{};
  const auto block = [&](IndexRange range) {
    for (const std::size_t i : range) times[i].write() += 1;
    if (range.first == 1) throw std::runtime_error("planned");
  };
  const auto work = [&](std::size_t member) {
    run.work(member, block, token, [](std::size_t) noexcept {});
  };
  run.open(4, 2, 1, at_failure);
  explore::Thread second([&] { work(1); });
  explore::Thread stopper([&] { source.request_stop(); });
  work(0);
  second.join();
  stopper.join();
  const Tally tally = run.settle();
  std::size_t ran = 0;
  for (const auto& each : times) {
    explore::check(each.read() <= 1, "no index twice");
    ran += static_cast<std::size_t>(each.read());
  }
  const auto failed = static_cast<std::size_t>(times[1].read());
  explore::check(tally.accepted == 4 && tally.balanced(), "all indices");
  explore::check(tally.failed == failed && tally.done == ran - failed, "as it was counted");
  explore::check((tally.first_failure != nullptr) == (failed != 0), "and why");
  explore::outcome(tally.cancelled);
  run.open(0, 2, 1);
  explore::check(run.settle().balanced(), "empty books afterwards");
}
const Scenario others_run("range_run/others_run", [] { account(detail::AtFailure::others_run); });
const Scenario left_out("range_run/rest_left_out",
                        [] { account(detail::AtFailure::rest_left_out); });

template <std::size_t count>
void loop_each_once(Shelf& shelf) {
  std::array<sync::cell<int>, count> times{};  // gone when the loop is over
  parallel_for(shelf, 0, count, [&](std::size_t i) { times[i].write() += 1; });
  for (const auto& each : times) explore::check(each.read() == 1, "each index once");
}

// A thread looks at the shelf once: before the loop, in the midst of it, or after it.
const Scenario helped("lent_loop/helped", [] {
  Shelf shelf(1);
  explore::Thread helper([&] { explore::outcome(shelf.run_one(0) ? 1 : 0); });
  loop_each_once<2>(shelf);
});

// The first helper calls the second.
const LargeScenario chain("lent_loop/chain", [] {
  Shelf shelf(2);
  explore::Thread first([&] { (void)shelf.run_one(0); });
  explore::Thread second([&] { (void)shelf.run_one(1); });
  loop_each_once<3>(shelf);
});

// The function ends uncalled, on another thread, after the loop: it ends what they shared.
const Scenario dropped("lent_loop/dropped", [] {
  auto shelf = std::make_unique<Shelf>(1);
  Shelf& there = *shelf;
  loop_each_once<2>(there);
  explore::Thread ends([&] { shelf.reset(); });
});

const Scenario refused("lent_loop/refused", [] {
  Shelf shelf(0);
  loop_each_once<3>(shelf);
});

// One of the two throws: the loop ends early, and the caller gets what the first one threw.
const Scenario throws("lent_loop/throws", [] {
  Shelf shelf(1);
  explore::Thread helper([&] { (void)shelf.run_one(0); });
  std::array<sync::cell<int>, 3> times{};
  bool thrown = false;
  try {
    parallel_for(shelf, 0, 3, [&](std::size_t i) {
      times[i].write() += 1;
      if (i == 1) throw std::runtime_error("planned");
    });
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  explore::check(thrown, "rethrown");
  std::size_t ran = 0;
  for (const auto& each : times) {
    explore::check(each.read() <= 1, "no index twice");
    ran += static_cast<std::size_t>(each.read());
  }
  explore::outcome(ran);
});

}}  // namespace parallel_for_scenarios
