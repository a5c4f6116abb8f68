// SPDX-License-Identifier: MIT
//
// Mutex: plain data under it never races, and nobody sleeps on.
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#include "explore/scenario.hpp"

namespace mutex_scenarios { namespace {

using namespace handoff;
using sync::Lock;
using sync::Mutex;
using test::Scenario;

struct Counter {
  Mutex mutex;
  sync::cell<int> value{0};

  void add() {
    const Lock lock(mutex);
    value.write() = value.read() + 1;
  }
};

const Scenario two_threads("mutex/two_threads", [] {
  Counter counter;
  explore::Thread other([&] { counter.add(); });
  counter.add();
  other.join();
  explore::check(counter.value.read() == 2, "both additions count");
});

// With three a thread may come while one holds the lock and another sleeps: the one that let the
// sleeper wake must not be forgotten either.
const Scenario three_threads("mutex/three_threads", [] {
  Counter counter;
  explore::Thread second([&] { counter.add(); });
  explore::Thread third([&] { counter.add(); });
  counter.add();
  second.join();
  third.join();
  explore::check(counter.value.read() == 3, "all additions count");
});

const Scenario try_lock("mutex/try_lock", [] {
  Counter counter;
  bool got = false;
  explore::Thread other([&] {
    got = counter.mutex.try_lock();
    if (!got) return;
    counter.value.write() += 1;
    counter.mutex.unlock();
  });
  counter.add();
  other.join();
  explore::check(counter.value.read() == (got ? 2 : 1), "the holder of the lock had it alone");
  explore::outcome(got);
});

}}  // namespace mutex_scenarios
