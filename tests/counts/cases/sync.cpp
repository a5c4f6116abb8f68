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
  rounds([&](bool counts) {
    const Counted counted("EventCount.notify_one/nobody waits", counts);
    events.notify_one();
  });
  rounds([&](bool counts) {
    const Counted counted("EventCount.await/true at once", counts);
    (void)events.await([] { return true; });
  });
  bool told = false;
  rounds([&](bool counts) {
    told = false;
    sleeper.begin([&] {
      const Counted counted("EventCount.await/asleep", counts);
      (void)events.await([&] { return told; });
    });
    let_all_sleep();
    told = true;
    {
      const Counted counted("EventCount.notify_one/one asleep", counts);
      events.notify_one();
    }
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
    {
      const Counted counted("EventCount.notify_all/two asleep", counts);
      events.notify_all();
    }
    sleeper.wait();
    second.wait();
  });
}

HANDOFF_COUNT_CASE(mutex) {
  handoff::sync::Mutex mutex;
  Helper other;
  rounds([&](bool counts) {
    const Counted counted("Mutex.lock + unlock/alone", counts);
    mutex.lock();
    mutex.unlock();
  });
  rounds([&](bool counts) {
    mutex.lock();
    other.begin([&] {
      const Counted counted("Mutex.lock + unlock/asleep", counts);
      mutex.lock();
      mutex.unlock();
    });
    let_all_sleep();
    {
      const Counted counted("Mutex.unlock/one asleep", counts);
      mutex.unlock();
    }
    other.wait();
  });
}

HANDOFF_COUNT_CASE(stop_token) {
  rounds([](bool counts) {
    const Counted counted("StopSource.make + end/alone", counts);
    const handoff::sync::StopSource source;
  });
  rounds([](bool counts) {
    handoff::sync::StopSource source;
    const handoff::sync::StopToken token = source.token();
    {
      const Counted counted("StopToken.stop_requested/not yet", counts);
      keep(token.stop_requested());
    }
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
  rounds([](bool counts) {
    const Counted counted("clock.now/alone", counts);
    keep(handoff::sync::clock::now());
  });
  rounds([](bool counts) {
    const Counted counted("CpuBudget.recent_cpu_budget/within a second", counts);
    keep(handoff::sync::recent_cpu_budget());
  });
}
