// SPDX-License-Identifier: MIT
//
// Timed tasks: the moment against the cancel and the close, and who frees what.
// docs/design/thread_pool.md.
#include <array>
#include <chrono>
#include <cstddef>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/pool/timers.hpp>
#include <handoff/sync/atomic.hpp>
#include <handoff/sync/cell.hpp>
#include <handoff/sync/event_count.hpp>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"

namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace std::chrono_literals;
using test::Scenario;

// A pool of which the timers' own thread is the worker. It has no memory for the first `misses`.
struct OneThread {
  int misses = 0;
  int done = 0;
  int cancelled = 0;
  Timers& timers = *new Timers({this, &OneThread::hand_over, {}, {}});

  OneThread() = default;
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { timers.release(); }

  static void hand_over(void* self, TimedTask& due) {
    auto& pool = *static_cast<OneThread*>(self);
    if (pool.misses-- > 0) throw std::bad_alloc();
    (Timers::run(due) == Outcome::done ? pool.done : pool.cancelled) += 1;
  }

  template <class F>
  TimerHandle add(std::chrono::nanoseconds delay, std::chrono::nanoseconds period, F function) {
    return TimerHandle(
        *add_timed(timers, sync::deadline_after(delay), period, std::move(function)));
  }
};

const Scenario cancel("timers/cancel", [] {
  OneThread pool;
  sync::cell<int> ran;
  bool cancelled = false;
  TimerHandle handle = pool.add(1ns, 0ns, [&ran] { ++ran.write(); });
  explore::Thread other([&] { cancelled = handle.cancel(); });
  other.join();
  pool.timers.close();
  test::audit(pool.timers);
  const auto figures = pool.timers.figures();
  explore::check(figures.waiting == 0, "none left");
  explore::check(ran.read() == pool.done, "ran once at most");
  explore::check(pool.done + pool.cancelled + static_cast<int>(figures.cancelled) == 1, "one end");
  explore::check(!cancelled || ran.read() == 0, "what was cancelled did not run");
  explore::outcome(cancelled ? 1 : 0);
  explore::outcome(static_cast<std::uint64_t>(pool.done));
});

const Scenario waits("timers/cancel_and_wait", [] {
  OneThread pool;
  sync::cell<int> ran;
  TimerHandle handle = pool.add(1ns, 0ns, [&ran] { ++ran.write(); });
  const bool cancelled = handle.cancel_and_wait();
  explore::check(ran.read() <= 1, "it is over, so this is no race");
  explore::check(!cancelled || ran.read() == 0, "what was cancelled did not run");
  explore::outcome(static_cast<std::uint64_t>(ran.read()));
  pool.timers.close();
});

const Scenario close("timers/close", [] {
  OneThread pool;
  sync::cell<int> ran;
  int accepted = 0;
  explore::Thread other([&] {
    if (TimedTask* const task = add_timed(pool.timers, sync::deadline_after(1ns),
                                          TimedTask::Duration::zero(), [&ran] { ++ran.write(); })) {
      ++accepted;
      const TimerHandle handle(*task);
    }
  });
  pool.timers.close();
  const auto figures = pool.timers.figures();
  other.join();
  test::audit(pool.timers);
  explore::check(ran.read() == pool.done, "ran once at most");
  explore::check(pool.done + static_cast<int>(figures.cancelled) == accepted, "all told by then");
  explore::outcome(static_cast<std::uint64_t>(accepted + 2 * pool.done));
});

// The thread sleeps for the later one, which never comes, when the earlier one is added: it has to
// be told, or this hangs.
const Scenario earlier("timers/earlier", [] {
  OneThread pool;
  sync::EventCount news;
  sync::atomic<bool> there{false};
  TimerHandle later = pool.add(std::chrono::nanoseconds::max(), 0ns, [] {});
  TimerHandle sooner = pool.add(1ns, 0ns, [&] {
    there.store(true, sync::order::release);
    news.notify_all();
  });
  (void)news.await([&there]() noexcept { return there.load(sync::order::acquire); });
  pool.timers.close();
  explore::check(pool.timers.figures().cancelled == 1, "the later one did not come");
  explore::check(pool.done == 1, "the earlier one did");
  test::audit(pool.timers);
});

const Scenario series("timers/series", [] {
  OneThread pool;
  sync::cell<int> ran;
  TimerHandle handle = pool.add(1ns, 1ns, [&ran] { ++ran.write(); });
  explore::check(handle.cancel_and_wait(), "a series never ends by itself");
  const int runs = ran.read();
  pool.timers.close();
  test::audit(pool.timers);
  explore::check(ran.read() == runs, "none after the wait");
  explore::check(pool.done == runs, "and all were counted");
  explore::outcome(static_cast<std::uint64_t>(runs));
});

// The last of the heap goes up when it takes the place of one that is cancelled.
const Scenario rises("timers/cancel_in_the_middle", [] {
  OneThread pool;
  std::array<TimerHandle, 7> handles;
  constexpr std::array<int, 7> hours{1, 10, 2, 11, 12, 3, 4};  // a heap, in the order of adding
  for (std::size_t i = 0; i < handles.size(); ++i) {
    handles[i] = pool.add(std::chrono::hours(hours[i]), 0ns, [] {});
  }
  explore::Thread other([&] { (void)handles[3].cancel(); });
  (void)handles[4].cancel();
  other.join();
  const std::string fault = Books<Timers>::heap_fault(pool.timers);
  explore::check(fault.empty(), fault.c_str());
  pool.timers.close();
  test::audit(pool.timers);
  const auto cancelled = static_cast<int>(pool.timers.figures().cancelled);
  explore::check(cancelled + pool.done + pool.cancelled == 7, "each has one end");
});

// Whoever of pool and handle is the last one frees them all.
const Scenario last_goes("timers/last_goes", [] {
  std::optional<OneThread> pool(std::in_place);
  Timers& timers = pool->timers;
  TimerHandle handle = pool->add(1h, 0ns, [] {});
  timers.close();
  explore::Thread other([&] {
    explore::check(timers.figures().waiting == 0, "the handle keeps them");
    handle = TimerHandle();
  });
  pool.reset();
  other.join();
});

const Scenario no_memory("timers/no_memory", [] {
  OneThread pool;
  pool.misses = 1;
  sync::cell<int> ran;
  sync::EventCount news;
  sync::atomic<bool> there{false};
  TimerHandle handle = pool.add(1ns, 0ns, [&] {
    ++ran.write();
    there.store(true, sync::order::release);
    news.notify_all();
  });
  (void)news.await([&there]() noexcept { return there.load(sync::order::acquire); });
  explore::check(ran.read() == 1, "it came all the same");
  pool.timers.close();
  test::audit(pool.timers);
});

// The pool and all: a moment against the close.
const Scenario later("thread_pool/later", [] {
  sync::cell<int> ran;
  test::AuditedPool pool({.width = 1});
  { const TimerHandle handle = pool.execute_after(1ns, [&ran] { ++ran.write(); }); }
  const Tally tally = pool.close();
  explore::check(tally.balanced() && tally.accepted == 1, "accepted");
  explore::check(tally.done == static_cast<std::uint64_t>(ran.read()), "ran or cancelled");
  explore::check(tally.done + tally.cancelled == 1, "one end");
  explore::outcome(tally.done);
});

}  // namespace
