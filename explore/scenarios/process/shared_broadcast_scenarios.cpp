// SPDX-License-Identifier: MIT
//
// SharedBroadcast and its sequence: the scenarios of docs/design/shared_ring.md. A parent that
// learns of a death from the kernel is a thread that waits for the process.
#include <handoff/process/detail/shared_sequence.hpp>
#include <handoff/process/shared_broadcast.hpp>

#include "explore/scenarios/process/shared_storage.hpp"

namespace shared_broadcast_scenarios { namespace {

using namespace handoff;
using explore::check;
using explore::Process;
using explore::Thread;
using namespace test;

// Two words of memory, so that a copy that was overtaken shows.
struct Tick {
  std::uint64_t number = 0;
  std::uint64_t copy = 0;
};
Tick tick_of(std::uint64_t number) { return {number, ~number}; }
std::uint64_t number_of(const Tick& tick) {
  check(tick.copy == ~tick.number, "the copy is whole");
  return tick.number;
}
using Ticks = SharedBroadcast<Tick>;
using Shared = test::Shared<Ticks>;

// Follows until the end; each message later than the one before, and each gap counted.
void follow(Ticks::Consumer& in, std::uint64_t last, std::uint64_t before = 0) {
  std::uint64_t seen = 0;
  Tick tick;
  while (in.pop(tick) == Status::ok) {
    check(number_of(tick) > before, "in order");
    before = tick.number;
    ++seen;
  }
  check(seen + in.lost() == last, "seen or counted as lost");
  explore::outcome(in.lost());
}

const Scenario nothing_lost("shared_broadcast/nothing_lost", [] {
  Shared shared(2UL);
  Ticks::Consumer in(Ticks::attach(shared.storage.bytes()));
  Thread producer([&] {
    Ticks::Producer out(Ticks::attach(shared.storage.bytes()));
    check(out.push(tick_of(1)) == Status::ok, "never full");
    check(out.push(tick_of(2)) == Status::ok, "never full");
    out.close();
    check(out.push(tick_of(3)) == Status::closed, "closed is closed");
  });
  follow(in, 2);
  check(in.lost() == 0, "there was room for both");
});

const Scenario lapped("shared_broadcast/lapped", [] {
  Shared shared(1UL);
  Ticks::Consumer in(shared.ring);
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    for (std::uint64_t i = 1; i <= 3; ++i) check(out.push(tick_of(i)) == Status::ok, "never full");
    out.close();
  });
  follow(in, 3);
});

const Scenario lapped_in_two_places("shared_broadcast/lapped_in_two_places", [] {
  Shared shared(2UL);
  Ticks::Consumer in(shared.ring);
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    for (std::uint64_t i = 1; i <= 4; ++i) check(out.push(tick_of(i)) == Status::ok, "never full");
    out.close();
  });
  follow(in, 4);
});

// A consumer relies on behind(): if it counts a message, a pop finds one.
const Scenario behind("shared_broadcast/behind", [] {
  Shared shared(2UL);
  Ticks::Consumer in(shared.ring);
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    for (std::uint64_t i = 1; i <= 2; ++i) check(out.push(tick_of(i)) == Status::ok, "never full");
  });
  Tick tick;
  const std::uint64_t count = in.behind();
  for (std::uint64_t i = 1; i <= count; ++i) {
    check(in.try_pop(tick) == Status::ok && number_of(tick) == i, "it is there");
  }
  explore::outcome(count);
});

// An alarm's thread sleeps in the place of a consumer.
const Scenario watched("shared_broadcast/watched", [] {
  Shared shared(2UL);
  Ticks::Consumer in(shared.ring);
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    for (std::uint64_t i = 1; i <= 2; ++i) check(out.push(tick_of(i)) == Status::ok, "never full");
    out.close();
  });
  check(test::take_all_by_watch(in, Tick{}) == 2, "there was room for both");
});

// Two consumers sleep on one bell.
const Scenario two_consumers("shared_broadcast/two_consumers", [] {
  Shared shared(2UL);
  Ticks::Consumer first(shared.ring);
  Ticks::Consumer second(shared.ring);
  Thread other([&] { follow(second, 1); });
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    check(out.push(tick_of(1)) == Status::ok, "never full");
    out.close();
  });
  follow(first, 1);
});

// A consumer that comes late sees what is still there, and knows what was done before.
const Scenario joins("shared_broadcast/joins", [] {
  Shared shared(1UL);
  int before = 0;
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    before = 1;
    check(out.push(tick_of(1)) == Status::ok, "never full");
    out.close();
  });
  Ticks::Consumer late(shared.ring, Ticks::From::oldest);
  Ticks::Consumer now(shared.ring);
  Tick tick;
  const Status said = now.try_pop(tick);
  if (said == Status::ok) check(number_of(tick) == 1 && before == 1, "what came before is visible");
  check(late.behind() <= 1, "no more than there are");
  follow(late, 1);
  explore::outcome(said == Status::ok);
});

// --- Deaths. ---

const MortalScenario<> producer_dies("shared_broadcast/producer_dies", [] {
  Shared shared(1UL);
  Ticks::Consumer in(shared.ring);
  Thread parent([&] {
    Process process([&] {
      Ticks::Producer out(shared.ring);
      check(out.push(tick_of(1)) == Status::ok, "never full");
      check(out.push(tick_of(2)) == Status::ok, "never full");
      out.close();
    });
    if (process.wait()) shared.ring.producer_died();
  });
  std::uint64_t before = 0;
  Tick tick;
  while (in.pop(tick) == Status::ok) {
    check(number_of(tick) > before, "in order");
    before = tick.number;
  }
  explore::outcome(before);
});

// A message may have been read before its producer could count it: the successor does not use its
// place again.
const MortalScenario<> producer_is_replaced("shared_broadcast/producer_is_replaced", [] {
  Shared shared(2UL);
  Ticks::Consumer in(shared.ring);
  Thread parent([&] {
    {
      Process process([&] {
        Ticks::Producer out(shared.ring);
        check(out.push(tick_of(1)) == Status::ok, "never full");
      });
      (void)process.wait();
    }
    Ticks::Producer out(shared.ring);
    shared.ring.recovered();
    check(out.push(tick_of(2)) == Status::ok, "never full");
    out.close();
  });
  std::uint64_t before = 0;
  Tick tick;
  while (in.pop(tick) == Status::ok) {
    check(number_of(tick) > before, "in order");
    before = tick.number;
  }
  check(before == 2, "the successor's came");
  check(in.lost() == 0, "there was room");
});

const MortalScenario<> consumer_dies("shared_broadcast/consumer_dies", [] {
  Shared shared(1UL);
  Ticks::Consumer in(shared.ring);
  Process process([&] {
    Ticks::Consumer dying(shared.ring);
    Tick tick;
    while (dying.pop(tick) == Status::ok) (void)number_of(tick);
  });
  Thread producer([&] {
    Ticks::Producer out(shared.ring);
    check(out.push(tick_of(1)) == Status::ok, "never full");
    out.close();
  });
  follow(in, 1);
});

}}  // namespace shared_broadcast_scenarios
