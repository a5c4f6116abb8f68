// SPDX-License-Identifier: MIT
//
// What all rooms sleep, exclude and stop by.
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using handoff::sync::EventCount;

}  // namespace

HANDOFF_COUNT_CASE(event_count) {
  EventCount events;
  Helper sleeper;
  note_rounds("EventCount.notify_one/nobody waits", [&] { events.notify_one(); });
  note_rounds("EventCount.await/true at once", [&] { (void)events.await([] { return true; }); });
  bool told = false;
  rounds([&](bool counts) {
    told = false;
    sleeper.begin([&] {
      const Counted counted("EventCount.await/asleep", counts);
      (void)events.await([&] { return told; });
    });
    let_all_sleep();
    told = true;
    note("EventCount.notify_one/one asleep", counts, [&] { events.notify_one(); });
    sleeper.wait();
  });
  Helper second;
  rounds([&](bool counts) {
    told = false;
    for (Helper* const waiter : {&sleeper, &second}) {
      waiter->begin([&] { (void)events.await([&] { return told; }); });
    }
    let_all_sleep();
    told = true;
    note("EventCount.notify_all/two asleep", counts, [&] { events.notify_all(); });
    sleeper.wait();
    second.wait();
  });
}

HANDOFF_COUNT_CASE(mutex) {
  handoff::sync::Mutex mutex;
  Helper other;
  note_rounds("Mutex.lock + unlock/alone", [&] {
    mutex.lock();
    mutex.unlock();
  });
  rounds([&](bool counts) {
    mutex.lock();
    note_asleep(
        other, counts, "Mutex.lock + unlock/asleep",
        [&] {
          mutex.lock();
          mutex.unlock();
        },
        "Mutex.unlock/one asleep", [&] { mutex.unlock(); });
  });
}

HANDOFF_COUNT_CASE(stop_token) {
  note_rounds("StopSource.make + end/alone", [&] { const handoff::sync::StopSource source; });
  rounds([](bool counts) {
    handoff::sync::StopSource source;
    const handoff::sync::StopToken token = source.token();
    note("StopToken.stop_requested/not yet", counts, [&] { keep(token.stop_requested()); });
    const auto nothing = [](void*) noexcept {};
    const auto registered = [&](const char* row) {
      const Counted counted(row, counts);
      const handoff::sync::StopCallback callback(token, nothing, nullptr);
    };
    registered("StopCallback.make + end/alone");
    const handoff::sync::StopCallback callback(token, nothing, nullptr);
    const Counted counted("StopSource.request_stop/one callback", counts);
    source.request_stop();
  });
}

HANDOFF_COUNT_CASE(clock) {
  note_rounds("clock.now/alone", [&] { keep(handoff::sync::clock::now()); });
  note_rounds("CpuBudget.recent_cpu_budget/within a second",
              [&] { keep(handoff::sync::recent_cpu_budget()); });
}
