// SPDX-License-Identifier: MIT
//
// A pipeline: items and turns that meet at a door, tokens that come back, members that leave while
// work comes, a close against pushes. docs/design/pipeline.md.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <handoff/core/closing.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/graph/detail/pipeline_core.hpp>
#include <handoff/graph/detail/pipeline_door.hpp>
#include <handoff/graph/pipeline.hpp>
#include <handoff/pool/loop_executor.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <optional>

#include "explore/scenario.hpp"

namespace pipeline_scenarios { namespace {

using namespace handoff;
using detail::PipelineDoor;
using detail::PipelineToken;
using sync::order;
using test::LargeScenario;
using test::Scenario;

// A serial stage behind a source, without the rest: two tokens, and as many slots.
struct OneDoor {
  explicit OneDoor(bool its_in_order) : in_order(its_in_order) { door.open(2); }

  // As members do: until the source is at its end, or the token waits at the door.
  void work(PipelineToken* token) {
    for (;;) {
      token->item = numbers.fetch_add(1, order::acq_rel);
      if (token->item >= kItems) return;
      if (!in_order) token->ticket = door.draw();
      if (!door.arrive(*token, number(*token))) return;
      for (PipelineToken* next = token; next != nullptr; next = door.leave(number(*token))) {
        token = next;
        explore::check(!in_order || passed.read() == token->item, "in order");
        ++passed.write();
      }
    }
  }
  std::uint64_t number(const PipelineToken& token) const {
    return in_order ? token.item : token.ticket;
  }

  static constexpr std::uint64_t kItems = 4;
  const bool in_order;
  PipelineDoor door;
  sync::atomic<std::uint64_t> numbers{0};
  sync::cell<std::uint64_t> passed;
};

void two_at_a_door(bool in_order) {
  OneDoor stage(in_order);
  PipelineToken tokens[2];
  explore::Thread other([&] { stage.work(&tokens[0]); });
  stage.work(&tokens[1]);
  other.join();
  explore::check(stage.passed.read() == OneDoor::kItems, "all passed");
}
const Scenario ordered_door("pipeline/ordered_door", [] { two_at_a_door(true); });
const Scenario serial_door("pipeline/serial_door", [] { two_at_a_door(false); });

// What the stages see of the items.
struct Record {
  void begin() {
    const int now = live.fetch_add(1, order::relaxed) + 1;
    explore::check(now <= 2, "no more than the tokens");
  }
  void end(int item) {
    explore::check(item > last.read(), "in order");
    last.write() = item;
    ++count.write();
    live.fetch_sub(1, order::relaxed);
  }
  sync::atomic<int> live{0};
  sync::cell<int> last{-1};
  sync::cell<int> count;
};

void serve(LoopExecutor& loop) {
  while (loop.wait() == Status::ok) (void)loop.drain();
}

struct Two {  // of which one is the caller
  template <class F>
  Status try_post(F&& function) {
    return loop.try_post(std::forward<F>(function));
  }
  static std::size_t width() { return 2; }
  LoopExecutor loop;
};

// A member that was called and the caller, at the source and at two doors.
const LargeScenario pulled("pipeline/pulled_by_two", [] {
  Two two;
  explore::Thread server([&] { serve(two.loop); });
  Record record;
  {
    int next = 0;
    Pipeline line(
        two, {.tokens = 2},
        [&]() -> std::optional<int> {
          if (next == 3) return std::nullopt;
          record.begin();
          return next++;
        },
        serial_stage([](int i) { return i; }), ordered_stage([&](int i) { record.end(i); }));
    const Tally tally = line.run();
    explore::check(tally.done == 3 && tally.balanced(), "all ended");
    explore::check(record.count.read() == 3, "before the run returned");
  }
  two.loop.shut();
  server.join();
});

// The last member leaves while an item comes; a push waits for the only token; the close ends it.
const LargeScenario pushed("pipeline/push_against_close", [] {
  LoopExecutor loop;
  explore::Thread server([&] { serve(loop); });
  sync::cell<int> ran;
  unsigned accepted = 0;
  {
    Pipeline line(loop, {.tokens = 1}, Pushed<int>(), serial_stage([&](int) { ++ran.write(); }));
    explore::Thread producer([&] {
      for (int i = 0; i < 2; ++i) accepted += line.push(i) == Status::ok ? 1 : 0;
    });
    const Tally tally = line.close();
    producer.join();
    explore::check(tally.balanced() && tally.pending == 0, "all is told");
    explore::check(tally.done == accepted, "what was accepted has ended");
    explore::check(ran.read() == static_cast<int>(accepted), "once each");
  }
  loop.shut();
  server.join();
  explore::outcome(accepted);
});

// An end that is waited for without help: who leaves last tells.
const LargeScenario waited("pipeline/waits_for_the_last_member", [] {
  LoopExecutor loop;
  explore::Thread server([&] { serve(loop); });
  sync::cell<int> ran;
  {
    Pipeline line(loop, {.tokens = 1}, Pushed<int>(), parallel_stage([&](int) { ++ran.write(); }));
    explore::check(line.push(1) == Status::ok, "room");
    explore::check(line.push(2) == Status::ok, "waited for room");
    explore::check(line.wait() == Status::ok, "no limit");
    explore::check(ran.read() == 2, "both have ended");
  }
  loop.shut();
  server.join();
});

// The executor has not called anybody: a wait that does not help hears of the stop by itself.
const Scenario stopped("pipeline/stop_against_wait", [] {
  LoopExecutor loop;
  sync::StopSource stop;
  const sync::StopSource never;
  Pipeline line(
      loop, {.until = stop.token()}, [] { return std::optional<int>(); }, serial_stage([](int) {}));
  line.start();
  explore::Thread stops([&] { (void)stop.request_stop(); });
  explore::check(line.wait(never.token()) == Status::stopped, "it has ended");
  stops.join();
});

// A close with a deadline, which members read while they work.
const LargeScenario late("pipeline/close_with_a_deadline", [] {
  LoopExecutor loop;
  explore::Thread server([&] { serve(loop); });
  sync::cell<int> ran;
  {
    Pipeline line(loop, {.tokens = 2}, Pushed<int>(), serial_stage([&](int) { ++ran.write(); }));
    explore::check(line.push(1) == Status::ok && line.push(2) == Status::ok, "room");
    const Tally tally = line.close(Closing::finish_until(std::chrono::nanoseconds(0)));
    explore::check(tally.balanced() && tally.done + tally.expired == 2, "done or late");
    explore::check(ran.read() == static_cast<int>(tally.done), "once each");
    explore::outcome(tally.done);
  }
  loop.shut();
  server.join();
});

// The executor refuses the call, or has it and drops it while a push waits: the push works.
const LargeScenario left("pipeline/push_is_left_alone", [] {
  LoopExecutor loop;
  sync::cell<int> ran;
  Pipeline line(loop, {.tokens = 1}, Pushed<int>(), serial_stage([&](int) { ++ran.write(); }));
  explore::Thread closer([&] { (void)loop.close(Closing::abandon); });
  explore::check(line.push(1) == Status::ok, "room");
  explore::check(line.push(2) == Status::ok, "made room itself");
  closer.join();
  explore::check(line.close().done == 2 && ran.read() == 2, "once each");
});

}}  // namespace pipeline_scenarios
