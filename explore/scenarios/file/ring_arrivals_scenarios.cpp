// SPDX-License-Identifier: MIT
//
// Runs on their way to the thread of a ring: none is lost, none comes twice, what one starter
// starts comes in its order, and the thread never sleeps while something is there and no bell was
// rung.
#include "file/ring_arrivals.hpp"

#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#include "explore/scenario.hpp"

namespace ring_arrivals_scenarios { namespace {

namespace explore = handoff::explore;
using handoff::detail::RingArrivals;
using handoff::sync::cell;
using handoff::sync::EventCount;
using handoff::sync::Lock;
using handoff::sync::Mutex;
using handoff::test::Scenario;

struct Run {
  Run* queued_behind = nullptr;
  cell<int> value{0};
};

// What the eventfd is: it counts, and the thread sleeps until it is not zero.
class Bell {
 public:
  void ring() {
    {
      const Lock lock(mutex_);
      ++rung_.write();
    }
    events_.notify_one();
  }
  void wait() {
    (void)events_.await([this] {
      const Lock lock(mutex_);
      if (rung_.read() == 0) return false;
      rung_.write() = 0;
      return true;
    });
  }

 private:
  Mutex mutex_;
  EventCount events_;
  cell<int> rung_{0};
};

struct Place {
  RingArrivals<Run> arrivals;
  Bell bell;

  void start(Run& run, int value) {
    run.value.write() = value;
    if (arrivals.put(run)) bell.ring();
  }
  void end() {
    arrivals.end();
    bell.ring();
  }
};

const Scenario two_starters("ring_arrivals/two_starters", [] {
  Place place;
  Run runs[3];
  explore::Thread one([&] {
    place.start(runs[0], 1);
    place.start(runs[1], 2);
  });
  explore::Thread other([&] { place.start(runs[2], 4); });
  int sum = 0;
  int last_of_one = 0;
  std::size_t sleeps = 0;
  while (sum < 7) {
    const bool more = place.arrivals.take([&](Run& run) {
      const int value = run.value.read();
      explore::check((sum & value) == 0, "none comes twice");
      if (value != 4) {
        explore::check(value == last_of_one + 1, "in the order of its starter");
        last_of_one = value;
      }
      sum += value;
    });
    explore::check(more, "not ended");
    if (sum == 7 || !place.arrivals.fall_asleep()) continue;
    ++sleeps;
    place.bell.wait();
  }
  one.join();
  other.join();
  explore::outcome(sleeps);
});

// The end comes behind what was started before it, and is not slept through.
const Scenario the_end("ring_arrivals/the_end", [] {
  Place place;
  Run run;
  cell<int> before_the_end{0};
  bool came = false;
  explore::Thread starter([&] { place.start(run, 1); });
  const auto turn = [&] {
    return place.arrivals.take([&](Run& one) { came = one.value.read() == 1; });
  };
  while (!came) {
    explore::check(turn(), "not ended");
    if (!came && place.arrivals.fall_asleep()) place.bell.wait();
  }
  starter.join();
  explore::Thread closer([&] {
    before_the_end.write() = 1;
    place.end();
  });
  std::size_t sleeps = 0;
  while (turn()) {
    if (!place.arrivals.fall_asleep()) continue;
    ++sleeps;
    place.bell.wait();
  }
  explore::check(before_the_end.read() == 1, "what the closer did is visible");
  closer.join();
  explore::outcome(sleeps);
});

// A thread that wakes for another reason than the bell (a call has ended) leaves nothing behind:
// the next sleep is rung again.
const Scenario another_reason("ring_arrivals/woken_for_another_reason", [] {
  Place place;
  Run runs[2];
  int came = 0;
  const auto count = [&](Run&) { ++came; };
  explore::check(place.arrivals.fall_asleep(), "nothing has come");
  explore::check(place.arrivals.take(count) && came == 0, "nothing has come");
  explore::Thread starter([&] {
    place.start(runs[0], 1);
    place.start(runs[1], 2);
  });
  while (came < 2) {
    if (place.arrivals.fall_asleep()) place.bell.wait();
    (void)place.arrivals.take(count);
  }
});

}}  // namespace ring_arrivals_scenarios
