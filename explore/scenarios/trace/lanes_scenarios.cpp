// SPDX-License-Identifier: MIT
//
// The buffers of a trace: what threads note is read once, in their order and under their names,
// though they come and go while it is read; what finds no room is counted; and none is freed that a
// thread has.
#include "trace/lanes.hpp"

#include "explore/scenario.hpp"

namespace lanes_scenarios { namespace {

namespace explore = handoff::explore;
using handoff::test::Scenario;
using handoff::trace::Event;
using handoff::trace::Lane;
using handoff::trace::LaneOwner;
using handoff::trace::Lanes;

Event event_of(std::int32_t thread, std::uint64_t number) {
  return {number, 0, static_cast<std::uint64_t>(thread)};
}

// A thread that notes so many events and ends.
void pass_by(Lanes& lanes, std::int32_t thread, std::uint64_t events) {
  Lane* const lane = lanes.take({.thread = thread});
  explore::check(lane != nullptr, "there is memory");
  for (std::uint64_t number = 1; number <= events; ++number) {
    (void)lane->put(event_of(thread, number));
  }
  Lanes::leave(*lane);
}

// What has been read.
struct Reader {
  explicit Reader(Lanes& read_from) : lanes(read_from) {}

  void look() {
    lanes.visit([this](Lane& lane, const LaneOwner& owner, bool) {
      lane.read([&](const Event& event) {
        explore::check(event.what == static_cast<std::uint64_t>(owner.thread), "its thread's own");
        std::uint64_t& seen = last[owner.thread];
        explore::check(event.word > seen, "in order, and once");
        seen = event.word;
        ++count;
      });
      dropped += lane.take_dropped();
    });
  }

  // The last look: so many events were noted, and all were read.
  void end(std::uint64_t noted) {
    look();
    explore::check(count == noted && dropped == 0, "all was read");
    lanes.free_unused();
  }

  Lanes& lanes;
  std::uint64_t last[3] = {};
  std::uint64_t count = 0;
  std::uint64_t dropped = 0;
};

const Scenario come_and_go("lanes/come_and_go", [] {
  Lanes lanes(2);
  Reader reader(lanes);
  explore::Thread one([&] { pass_by(lanes, 1, 1); });
  explore::Thread other([&] { pass_by(lanes, 2, 1); });
  reader.look();
  explore::outcome(reader.count);
  one.join();
  other.join();
  reader.end(2);
});

// The second one may have the lane of the first.
const Scenario used_again("lanes/used_again", [] {
  Lanes lanes(1);
  Reader reader(lanes);
  explore::Thread threads([&] {
    pass_by(lanes, 1, 1);
    pass_by(lanes, 2, 1);
  });
  reader.look();
  explore::outcome(reader.count);
  threads.join();
  reader.end(2);
});

// One that is free is taken while it is looked at.
const Scenario taken_again("lanes/taken_again", [] {
  Lanes lanes(1);
  Reader reader(lanes);
  pass_by(lanes, 1, 1);
  reader.look();
  explore::Thread thread([&] { pass_by(lanes, 2, 1); });
  reader.look();
  explore::outcome(reader.count);
  thread.join();
  reader.end(2);
});

const Scenario full("lanes/full", [] {
  Lanes lanes(1);
  Reader reader(lanes);
  explore::Thread thread([&] { pass_by(lanes, 1, 3); });
  reader.look();
  thread.join();
  reader.look();
  explore::check(reader.count + reader.dropped == 3, "read, or counted");
  explore::outcome(reader.count);
  lanes.free_unused();
});

// A thread that comes while they are shut gets one that stays, or none.
const Scenario shut("lanes/shut", [] {
  Lanes lanes(1);
  explore::Thread thread([&] {
    Lane* const lane = lanes.take({.thread = 1});
    if (lane == nullptr) return lanes.lose();
    (void)lane->put(event_of(1, 1));
    Lanes::leave(*lane);
  });
  lanes.free_unused();
  thread.join();
  explore::outcome(lanes.take_lost());
  lanes.free_unused();
  explore::check(lanes.take({.thread = 2}) == nullptr, "shut");
});

// ... or one that is there, which is not freed then.
const Scenario shut_beside_a_free_one("lanes/shut_beside_a_free_one", [] {
  Lanes lanes(1);
  Reader reader(lanes);
  pass_by(lanes, 1, 1);
  reader.look();
  explore::Thread thread([&] {
    Lane* const lane = lanes.take({.thread = 2});
    if (lane == nullptr) return lanes.lose();
    Lanes::leave(*lane);
  });
  lanes.free_unused();
  thread.join();
  explore::outcome(lanes.take_lost());
  lanes.free_unused();
});

}}  // namespace lanes_scenarios
