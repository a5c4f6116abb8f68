// SPDX-License-Identifier: MIT
//
// The whole of message workers, small: messages against the close, the pause and each other.
// docs/design/message_workers.md.
#include <handoff/bus/detail/message_engine.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/bus/worker_health.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "explore/scenario.hpp"

namespace message_workers_scenarios { namespace {

using namespace handoff;
using namespace test;

struct Number {
  int value = 0;
};
struct OneKey {
  static std::uint64_t key(const Number&) { return 7; }
};
struct Failure {};

void check_all(const Tally& tally, std::uint64_t accepted) {
  explore::check(tally.balanced() && tally.pending == 0, "all is told");
  explore::check(tally.accepted == accepted, "so many were accepted");
}

const LargeScenario close_against_publish("message_workers/close_against_publish", [] {
  sync::cell<int> ran;
  MessageWorkers<Number> workers({.width = 1, .capacity = 2},
                                 [&](const Number&) { ++ran.write(); });
  std::uint64_t accepted = 0;
  explore::Thread publisher([&] {
    if (workers.try_publish(Number{}) == Status::ok) ++accepted;
  });
  const Tally tally = workers.close();
  publisher.join();
  check_all(tally, accepted);
  explore::check(tally.done == accepted, "what was accepted ran");
  explore::check(static_cast<std::uint64_t>(ran.read()) == accepted, "once");
  explore::outcome(accepted);
});

const LargeScenario abandon("message_workers/abandon", [] {
  sync::cell<int> ran;
  MessageWorkers<Number> workers({.width = 1, .capacity = 2},
                                 [&](const Number&) { ++ran.write(); });
  for (int i = 0; i < 2; ++i) explore::check(workers.publish(Number{}) == Status::ok, "room");
  const Tally tally = workers.close(Closing::abandon);
  check_all(tally, 2);
  explore::check(tally.done == static_cast<std::uint64_t>(ran.read()), "what began is done");
  explore::check(tally.done + tally.cancelled == 2, "the rest was cancelled");
  explore::outcome(tally.done);
});

// What is paused is still: the state is the pauser's, without a lock.
const LargeScenario pause_against_publish("message_workers/pause_against_publish", [] {
  sync::cell<int> state;
  MessageWorkers<Number> workers({.width = 1, .capacity = 2},
                                 [&](const Number& number) { state.write() += number.value; });
  explore::Thread publisher(
      [&] { explore::check(workers.publish(Number{1}) == Status::ok, "there is room"); });
  explore::check(workers.pause() == Status::ok, "it comes");
  const int before = state.read();
  explore::check(workers.tally().done == static_cast<std::uint64_t>(before), "none half done");
  state.write() += 10;
  workers.resume();
  publisher.join();
  check_all(workers.close(), 1);
  explore::check(state.read() == 11, "it ran");
  explore::outcome(static_cast<std::uint64_t>(before));
});

// The same between two messages that a runner has at once.
const LargeScenario pause_within_a_key("message_workers/pause_within_a_key", [] {
  sync::cell<int> state;
  BasicMessageWorkers<OneKey, Number> workers(
      {.width = 1, .capacity = 2}, [&](const Number& number) { state.write() += number.value; });
  for (int i = 0; i < 2; ++i) explore::check(workers.publish(Number{1}) == Status::ok, "room");
  explore::check(workers.pause() == Status::ok, "it comes");
  const int before = state.read();
  explore::check(workers.tally().done == static_cast<std::uint64_t>(before), "none half done");
  state.write() += 10;
  workers.resume();
  check_all(workers.close(), 2);
  explore::check(state.read() == 12, "both ran");
  explore::outcome(static_cast<std::uint64_t>(before));
});

const LargeScenario start_against_publish("message_workers/start_against_publish", [] {
  sync::cell<int> ran;
  MessageWorkers<Number> workers({.width = 1, .capacity = 1});
  workers.set_handler<Number>([&](const Number&) { ++ran.write(); });
  explore::Thread publisher(
      [&] { explore::check(workers.publish(Number{}) == Status::ok, "there is room"); });
  workers.start();
  publisher.join();
  check_all(workers.close(), 1);
  explore::check(ran.read() == 1, "it ran");
});

const SingleScenario never_started("message_workers/never_started", [] {
  MessageWorkers<Number> workers({.width = 1, .capacity = 1});
  explore::check(workers.publish(Number{}) == Status::ok, "there is room");
  const Tally tally = workers.close();
  check_all(tally, 1);
  explore::check(tally.cancelled == 1, "nobody could handle it");
  const HealthReport report = workers.health();
  explore::check(report.count(WorkerHealth::State::gone) == 1, "its thread has said so");
});

// The destructor closes, which opens what is shut.
const SingleScenario ends_paused("message_workers/ends_paused", [] {
  sync::cell<int> ran;
  {
    MessageWorkers<Number> workers({.width = 1, .capacity = 1},
                                   [&](const Number&) { ++ran.write(); });
    explore::check(workers.pause() == Status::ok, "nothing runs");
    explore::check(workers.publish(Number{}) == Status::ok, "there is room");
  }
  explore::check(ran.read() == 1, "it ran");
});

// There is no room inside the handler: the second one runs inside the first.
const SingleScenario publishes_inside("message_workers/publishes_inside", [] {
  sync::cell<int> ran;
  std::optional<MessageWorkers<Number>> workers;
  workers.emplace(MessageWorkersOptions{.width = 1, .capacity = 1}, [&](const Number& number) {
    ++ran.write();
    if (number.value == 0) return;
    explore::check(workers->publish(Number{0}) == Status::ok, "it runs inside");
    explore::check(ran.read() == 2, "and has run by now");
  });
  explore::check(workers->publish(Number{1}) == Status::ok, "there is room");
  explore::check(workers->wait() == Status::ok, "both end");
  check_all(workers->close(), 2);
  explore::check(ran.read() == 2, "each once");
});

// A handler that publishes to its own key takes memory beyond the capacity. It is given back, also
// if close() comes first.
const LargeScenario close_against_inside("message_workers/close_against_publish_inside", [] {
  sync::cell<int> ran;
  Status said = Status::full;
  std::optional<BasicMessageWorkers<OneKey, Number>> workers;
  workers.emplace(MessageWorkersOptions{.width = 1, .capacity = 1}, [&](const Number& number) {
    ++ran.write();
    if (number.value != 0) said = workers->publish(Number{0});
  });
  explore::check(workers->publish(Number{1}) == Status::ok, "there is room");
  sync::pause();  // so that the close comes in the midst of the handler
  const Tally tally = workers->close();
  explore::check(said == Status::ok || said == Status::closed, "one of the two");
  check_all(tally, said == Status::ok ? 2 : 1);
  explore::check(tally.done == static_cast<std::uint64_t>(ran.read()), "what was accepted ran");
  explore::outcome(static_cast<std::uint64_t>(said));
});

// A busy worker is so with its own message, not with what its seat said before.
struct Letter {};
const LargeScenario health("message_workers/health", [] {
  sync::atomic<bool> looked(false);
  MessageWorkers<Number, Letter> workers(
      {.width = 1, .capacity = 1}, [](const Number&) {},
      [&](const Letter&) {
        // order: acquire pairs with the release below.
        while (!looked.load(sync::order::acquire)) sync::pause();
      });
  explore::check(workers.publish(Letter{}) == Status::ok, "room");
  sync::pause();
  const HealthReport report = workers.health();
  const WorkerHealth& worker = report.workers[0];
  const bool busy = worker.state == WorkerHealth::State::busy;
  explore::check(busy || worker.state == WorkerHealth::State::idle, "one of the two");
  const std::string_view message(worker.message);
  explore::check(!busy || message.find("Letter") != message.npos, "it is the letter");
  looked.store(true, sync::order::release);  // order: release pairs with the acquire above
  check_all(workers.close(), 1);
  explore::outcome(busy);
});

// ... nor for as long as since the message before.
const LargeScenario health_of_the_next("message_workers/health_of_the_next", [] {
  sync::atomic<bool> looked(false);
  MessageWorkers<Number, Letter> workers(
      {.width = 1, .capacity = 2, .stuck_after = std::chrono::milliseconds(1)},
      [](const Number&) {},
      [&](const Letter&) {
        // order: acquire pairs with the release below.
        while (!looked.load(sync::order::acquire)) sync::pause();
      });
  explore::check(workers.publish(Number{}) == Status::ok, "room");
  sync::pause();
  explore::check(workers.pause() == Status::ok, "it comes");
  explore::check(workers.publish(Letter{}) == Status::ok, "room");
  const Status said = workers.wait(sync::deadline_after(std::chrono::seconds(1)));
  explore::check(said == Status::timed_out, "time passes");
  workers.resume();
  sync::pause();
  explore::check(workers.health().count(WorkerHealth::State::stuck) == 0, "it has only begun");
  looked.store(true, sync::order::release);  // order: release pairs with the acquire above
  check_all(workers.close(), 2);
});

// Two workers and one key: plain state, so two at once are a race.
const HugeScenario keyed("message_workers/keyed", [] {
  sync::cell<int> next;
  BasicMessageWorkers<OneKey, Number> workers(
      {.width = 2, .capacity = 3}, [&](const Number& number) {
        explore::check(number.value == next.read(), "in order");
        ++next.write();
      });
  for (int i = 0; i < 3; ++i) explore::check(workers.publish(Number{i}) == Status::ok, "room");
  const Tally tally = workers.close();
  check_all(tally, 3);
  explore::check(next.read() == 3, "all ran");
});

// A caller that waits for its turn, behind a message that a worker runs or not yet. What it is told
// is counted by then (MW-1).
const LargeScenario turn_of_a_caller("message_workers/turn_of_a_caller", [] {
  const bool throws = explore::any_of(2) != 0;
  sync::cell<int> next;
  BasicMessageWorkers<OneKey, Number> workers(
      {.width = 1, .capacity = 1}, [&](const Number& number) {
        explore::check(number.value == next.read(), "in order");
        ++next.write();
        if (number.value == 1 && throws) throw Failure();
      });
  explore::check(workers.publish(Number{0}) == Status::ok, "room");
  bool told = false;
  try {
    explore::check(workers.publish_and_wait(Number{1}) == Status::ok, "it ran");
  } catch (const Failure&) {
    told = true;
  }
  explore::check(told == throws, "as it is told");
  explore::check(next.read() == 2, "and is seen");
  explore::check(workers.tally().failed == (throws ? 1U : 0U), "and counted");
  check_all(workers.close(), 2);
});

// ... and is told if a close drops it.
const LargeScenario abandon_of_a_turn("message_workers/abandon_of_a_turn", [] {
  sync::cell<int> ran;
  BasicMessageWorkers<OneKey, Number> workers({.width = 1, .capacity = 1},
                                              [&](const Number&) { ++ran.write(); });
  explore::check(workers.publish(Number{0}) == Status::ok, "room");
  Status said = Status::full;
  explore::Thread caller([&] { said = workers.publish_and_wait(Number{1}); });
  const Tally tally = workers.close(Closing::abandon);
  caller.join();
  check_all(tally, said == Status::closed ? 1 : 2);
  explore::check(said != Status::ok || tally.done >= 1, "it ran");
  explore::check(said != Status::stopped || tally.cancelled >= 1, "it was dropped");
  explore::check(tally.done == static_cast<std::uint64_t>(ran.read()), "as it is told");
  explore::outcome(static_cast<std::uint64_t>(said));
});

const SingleScenario throws("message_workers/throws", [] {
  sync::atomic<int> ran(0);  // wait() helps, so there are two that run them
  MessageWorkers<Number> workers({.width = 1, .capacity = 2}, [&](const Number& number) {
    ran.fetch_add(1, sync::order::relaxed);
    if (number.value == 0) throw Failure();
  });
  for (int i = 0; i < 2; ++i) explore::check(workers.publish(Number{i}) == Status::ok, "room");
  bool told = false;
  try {
    (void)workers.wait();
  } catch (const Failure&) {
    told = true;
  }
  const Tally tally = workers.close();
  check_all(tally, 2);
  explore::check(told && tally.failed == 1 && tally.first_failure != nullptr, "it is told");
  explore::check(ran.load(sync::order::relaxed) == 2 && tally.done == 1, "its neighbour ran");
});

// Room for one: the second publish waits until the first one's handler is done.
const LargeScenario waits_for_room("message_workers/waits_for_room", [] {
  sync::cell<int> ran;
  MessageWorkers<Number> workers({.width = 1, .capacity = 1},
                                 [&](const Number&) { ++ran.write(); });
  explore::check(workers.publish(Number{}) == Status::ok, "room");
  const Status said = workers.publish(Number{}, sync::clock::now() + std::chrono::nanoseconds(1));
  const std::uint64_t accepted = said == Status::ok ? 2 : 1;
  explore::check(said == Status::ok || said == Status::timed_out, "one of the two");
  explore::check(workers.close().done == accepted, "what was accepted ran");
  explore::outcome(accepted);
});

// close() wakes a publisher that waits for room, at once. Here the handler waits for the publisher,
// and the close waits for the handler.
const LargeScenario close_tells_who_waits("message_workers/close_tells_who_waits_for_room", [] {
  sync::atomic<bool> refused(false);
  MessageWorkers<Number> workers({.width = 1, .capacity = 1}, [&](const Number&) {
    // order: acquire pairs with the release below.
    while (!refused.load(sync::order::acquire)) sync::pause();
  });
  explore::check(workers.publish(Number{}) == Status::ok, "room");
  explore::Thread publisher([&] {
    explore::check(workers.publish(Number{}) == Status::closed, "there is no room before");
    refused.store(true, sync::order::release);  // order: release pairs with the acquire above
  });
  sync::pause();  // so that it waits
  check_all(workers.close(), 1);
});

// Threads and memory that the system refuses: either they are whole, or nothing is left.
const Scenario refused(
    "message_workers/refused",
    [] {
      sync::cell<int> ran;
      std::optional<MessageWorkers<Number>> workers;
      try {
        const explore::MayFail failing;
        workers.emplace(MessageWorkersOptions{.width = 2, .capacity = 1},
                        [&](const Number&) { ++ran.write(); });
      } catch (const std::bad_alloc&) {
      } catch (const std::system_error&) {
      }
      if (!workers) return;
      Status said = Status::full;
      {
        const explore::MayFail failing;
        said = workers->publish(Number{});
      }
      explore::check(said == Status::ok, "it runs here if there is no memory");
      check_all(workers->close(), 1);
      explore::check(ran.read() == 1, "once");
    },
    test::Size::single, 0, 1);

}}  // namespace message_workers_scenarios
