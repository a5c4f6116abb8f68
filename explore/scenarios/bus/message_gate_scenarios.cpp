// SPDX-License-Identifier: MIT
//
// The gate in front of handlers, and the count behind them. docs/design/message_workers.md.
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/worker_books.hpp"
#include "bus/message_counts.hpp"
#include "bus/message_gate.hpp"
#include "explore/scenario.hpp"

namespace message_gate_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;

// What handlers do. Plain: a handler beside a pause that is ok, or beside another, is a race.
using State = sync::cell<int>;

void handle(MessageGate& gate, State& state) {
  GateSeat& seat = gate.seat(0);
  gate.enter(seat);
  ++state.write();
  gate.leave(seat);
}

void handle_outside(MessageGate& gate, State& state) {
  gate.enter_outside();
  ++state.write();
  gate.leave_outside();
}

const Scenario pause_against_enter("message_gate/pause_against_enter", [] {
  test::Audited<MessageGate> gate(1, false);
  State state;
  explore::Thread worker([&] {
    handle(gate, state);
    handle(gate, state);
  });
  explore::check(gate.pause({}) == Status::ok, "without a limit it comes");
  const int before = state.write();
  state.write() = before + 10;
  gate.resume();
  worker.join();
  explore::check(state.read() == 12, "both ran");
  explore::outcome(static_cast<std::uint64_t>(before));
});

const Scenario pause_against_outside("message_gate/pause_against_outside", [] {
  test::Audited<MessageGate> gate(1, false);
  State state;
  explore::Thread caller([&] { handle_outside(gate, state); });
  explore::check(gate.pause({}) == Status::ok, "without a limit it comes");
  state.write() += 10;
  gate.resume();
  caller.join();
  explore::check(state.read() == 11, "it ran");
});

// One that gives up leaves no trace: what it kept out goes on.
const Scenario pause_gives_up("message_gate/pause_gives_up", [] {
  test::Audited<MessageGate> gate(1, false);
  State state;
  explore::Thread worker([&] { handle(gate, state); });
  const Status said = gate.pause(sync::clock::now() + std::chrono::nanoseconds(1));
  if (said == Status::ok) {
    state.write() += 10;
    gate.resume();
  }
  worker.join();
  explore::check(state.read() == (said == Status::ok ? 11 : 1), "it ran");
  explore::outcome(static_cast<std::uint64_t>(said));
});

// The one that gives up does not open what the other one shuts.
const Scenario two_pauses("message_gate/two_pauses", [] {
  test::Audited<MessageGate> gate(1, false);
  State state;
  explore::Thread worker([&] { handle(gate, state); });
  explore::Thread other([&] {
    if (gate.pause(sync::clock::now() + std::chrono::nanoseconds(1)) == Status::ok) gate.resume();
  });
  if (gate.pause({}) == Status::ok) gate.resume();
  other.join();
  worker.join();
  explore::check(state.read() == 1, "it ran");
});

const Scenario a_pause_outlives_another("message_gate/a_pause_outlives_another", [] {
  test::Audited<MessageGate> gate(1, false);
  State state;
  explore::Thread other([&] {
    // Says nothing to anybody but by its giving up.
    (void)gate.pause(sync::clock::now() - std::chrono::nanoseconds(1));
  });
  explore::Thread worker([&] { handle(gate, state); });
  explore::check(gate.pause({}) == Status::ok, "without a limit it comes");
  state.write() += 10;
  gate.resume();
  other.join();
  gate.resume();  // of the other one, if that was in time
  worker.join();
  explore::check(state.read() == 11, "it ran");
});

const Scenario start("message_gate/start", [] {
  test::Audited<MessageGate> gate(1, true);
  State state;
  explore::Thread worker([&] { handle(gate, state); });
  state.write() += 10;
  explore::check(!gate.is_started(), "not yet");
  gate.start();
  worker.join();
  explore::check(state.read() == 11, "it ran");
});

// A close ends a pause that is under way, and one that is held.
const Scenario close_against_pause("message_gate/close_against_pause", [] {
  test::Audited<MessageGate> gate(1, false);
  State state;
  explore::Thread pauser([&] {
    const Status said = gate.pause({});
    explore::check(said == Status::ok || said == Status::closed, "one of the two");
    explore::outcome(static_cast<std::uint64_t>(said));
  });
  explore::Thread worker([&] { handle(gate, state); });
  gate.open_for_good();
  pauser.join();
  worker.join();
  explore::check(gate.pause({}) == Status::closed, "from here on");
  explore::check(state.read() == 1, "it ran");
});

// ... which is not ok if somebody is inside all the while.
const Scenario close_beside_a_handler("message_gate/close_beside_a_handler", [] {
  test::Audited<MessageGate> gate(1, false);
  GateSeat& seat = gate.seat(0);
  gate.enter(seat);
  explore::Thread pauser(
      [&] { explore::check(gate.pause({}) == Status::closed, "it is not quiet"); });
  sync::pause();  // so that it waits
  gate.open_for_good();
  pauser.join();
  gate.leave(seat);
});

// ---- A waiting thread is told -------------------------------------------------------------------

const Scenario await_the_last("message_gate/await_the_last", [] {
  test::Audited<MessageGate> gate(2, false);
  MessageCounts counts;
  sync::EventCount idle;
  sync::cell<int> done[2];
  const auto end_one = [&](std::size_t who) {
    GateSeat& seat = gate.seat(who);
    gate.enter(seat);
    done[who].write() = 1;
    counts.count(Outcome::done);
    gate.leave(seat);
    if (gate.is_watched() && counts.is_idle()) idle.notify_all();
  };
  explore::check(counts.accept() && counts.accept(), "open");
  explore::Thread first([&] { end_one(0); });
  explore::Thread second([&] { end_one(1); });
  const auto is_idle = [&]() noexcept { return counts.is_idle(); };
  explore::check(gate.await(idle, is_idle, {}) == Status::ok, "told");
  explore::check(done[0].read() == 1 && done[1].read() == 1, "and seen");
});

// ... of one that comes to no seat: a waiting thread is known by the word alone.
const Scenario await_an_end("message_gate/await_an_end", [] {
  test::Audited<MessageGate> gate(1, false);
  MessageCounts counts;
  sync::EventCount idle;
  sync::cell<int> done;
  explore::check(counts.accept(), "open");
  explore::Thread runner([&] {
    done.write() = 1;
    counts.count(Outcome::done);
    if (gate.is_watched()) idle.notify_all();
  });
  const auto is_idle = [&]() noexcept { return counts.is_idle(); };
  explore::check(gate.await(idle, is_idle, {}) == Status::ok, "told");
  explore::check(done.read() == 1, "and seen");
});

const Scenario accept_against_close("message_counts/accept_against_close", [] {
  MessageCounts counts;
  sync::cell<int> before;
  explore::Thread publisher([&] {
    if (counts.accept()) {
      counts.count(Outcome::failed);
    } else {
      explore::check(before.read() == 1, "what came before the close");
    }
  });
  before.write() = 1;
  counts.close();
  const Tally early = counts.tally();
  publisher.join();
  const Tally tally = counts.tally();
  explore::check(early.accepted == tally.accepted, "a close is exact");
  explore::check(tally.balanced() && tally.pending == 0, "so is the tally");
  explore::check(counts.is_idle() && !counts.accept(), "and final");
  explore::outcome(tally.accepted);
});

const Scenario closed_counts("message_counts/closed_is_seen", [] {
  MessageCounts counts;
  sync::cell<int> before;
  explore::Thread closer([&] {
    before.write() = 1;
    counts.close();
  });
  if (counts.closed()) explore::check(before.read() == 1, "what came before the close");
});

// A look from outside at any moment: what has ended was accepted.
const Scenario tally_beside("message_counts/tally_at_any_moment", [] {
  MessageCounts counts;
  constexpr Outcome kOutcomes[] = {Outcome::failed, Outcome::cancelled, Outcome::expired};
  const Outcome outcome = kOutcomes[explore::any_of(3)];
  explore::Thread runner([&] {
    explore::check(counts.accept(), "open");
    counts.count(outcome);
  });
  const Tally tally = counts.tally();
  explore::check(tally.balanced() && tally.pending <= tally.accepted, "none ends unaccepted");
  explore::outcome(2 * tally.accepted + tally.pending);
});

}}  // namespace message_gate_scenarios
