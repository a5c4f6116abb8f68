// SPDX-License-Identifier: MIT
//
// Timed tasks: the moment against the cancel and the close, and who frees what.
// docs/design/thread_pool.md.
#include <handoff/core/closing.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/this_thread.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"
#include "pool/timers.hpp"

namespace timers_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace std::chrono_literals;
using namespace test;

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

  void close() {
    timers.close();
    test::audit(timers);
  }

  static void hand_over(void* self, TimedTask& due) {
    auto& pool = *static_cast<OneThread*>(self);
    if (pool.misses-- > 0) throw std::bad_alloc();
    (Timers::run(due) == Outcome::done ? pool.done : pool.cancelled) += 1;
  }

  template <class F>
  TimerHandle add(std::chrono::nanoseconds delay, std::chrono::nanoseconds period, F function,
                  const TaskOptions& options = {}) {
    return TimerHandle(
        *add_timed(timers, sync::deadline_after(delay), period, options, std::move(function)));
  }
};

const Scenario cancel("timers/cancel", [] {
  OneThread pool;
  sync::cell<int> ran;
  bool cancelled = false;
  TimerHandle handle = pool.add(1ns, 0ns, [&ran] { ++ran.write(); });
  explore::Thread other([&] { cancelled = handle.cancel(); });
  other.join();
  pool.close();
  const auto figures = pool.timers.figures();
  explore::check(figures.waiting == 0, "none left");
  explore::check(ran.read() == pool.done, "ran once at most");
  explore::check(pool.done + pool.cancelled + static_cast<int>(figures.cancelled) == 1, "one end");
  explore::check(!cancelled || ran.read() == 0, "what was cancelled did not run");
  explore::outcome(cancelled ? 1 : 0);
  explore::outcome(static_cast<std::uint64_t>(pool.done));
});

// A stop, while the handle may cancel: one of the two ends it, or it had begun.
const Scenario stop("timers/stop_beside_cancel", [] {
  OneThread pool;
  sync::StopSource source;
  sync::cell<int> ran;
  TimerHandle handle = pool.add(1ns, 0ns, [&ran] { ++ran.write(); }, {.until = source.token()});
  explore::Thread other([&] { (void)source.request_stop(); });
  const bool cancelled = handle.cancel();
  other.join();
  pool.close();
  const int not_due = static_cast<int>(pool.timers.figures().cancelled);
  explore::check(ran.read() == pool.done, "ran once at most");
  explore::check(pool.done + pool.cancelled + not_due == 1, "one end");
  explore::check(!cancelled || ran.read() == 0, "what was cancelled did not run");
  explore::outcome(static_cast<std::uint64_t>(pool.done + 2 * pool.cancelled + 4 * not_due));
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
    if (TimedTask* const task =
            add_timed(pool.timers, sync::deadline_after(1ns), TimedTask::Duration::zero(), {},
                      [&ran] { ++ran.write(); })) {
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

const Scenario series_ends("timers/series", [] {
  OneThread pool;
  sync::cell<int> ran;
  TimerHandle handle = pool.add(1ns, 1ns, [&ran] { ++ran.write(); });
  explore::check(handle.cancel_and_wait(), "a series never ends by itself");
  const int runs = ran.read();
  pool.close();
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
  pool.close();
  const auto cancelled = static_cast<int>(pool.timers.figures().cancelled);
  explore::check(cancelled + pool.done + pool.cancelled == 7, "each has one end");
});

// The last of pool and handle frees them all.
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
  pool.close();
});

// ---- What is promised of moments ----------------------------------------------------------------

// The earliest first, and of one moment the one that was asked for first.
const SingleScenario in_order("timers/in_order", [] {
  OneThread pool;
  test::Arrivals runs;
  std::string order;
  std::vector<TimerHandle> handles;
  const sync::Deadline begin = sync::clock::now();
  constexpr std::array<int, 9> hours{5, 2, 8, 2, 6, 1, 5, 7, 3};
  for (std::size_t i = 0; i < hours.size(); ++i) {
    handles.emplace_back(*add_timed(
        pool.timers, begin + std::chrono::hours(hours[i]), 0ns, {},
        [&order, &runs, begin, what = static_cast<char>('a' + i), after = hours[i]] {
          explore::check(sync::clock::now() >= begin + std::chrono::hours(after), "not early");
          order += what;
          runs.arrive();
        }));
    const std::string fault = Books<Timers>::heap_fault(pool.timers);
    explore::check(fault.empty(), fault.c_str());
    if (runs.count() != 0) return pool.timers.close();  // its time was up before all were there
  }
  explore::check(pool.timers.figures().waiting == 9, "all wait");
  runs.await(9);
  explore::check(order == "fbdiagehc", "in this order");
  explore::check(pool.timers.figures().waiting == 0, "none waits");
  explore::check(!handles[0].cancel(), "it is over");
  pool.timers.close();
  explore::check(pool.timers.figures().cancelled == 0 && pool.done == 9, "all ran");
  test::audit(pool.timers);
});

// When the runs of a series began, counted from its beginning. The first one takes some time.
std::vector<std::chrono::nanoseconds> moments(std::chrono::nanoseconds period,
                                              std::chrono::nanoseconds first_takes, int count) {
  OneThread pool;
  test::Arrivals runs;
  std::vector<std::chrono::nanoseconds> began;
  const sync::Deadline begin = sync::clock::now();
  TimerHandle handle = pool.add(period, period, [&] {
    if (runs.count() == count) return;
    began.push_back(sync::clock::now() - begin);
    if (runs.count() == 0) {
      sync::EventCount nobody;
      (void)nobody.await([] { return false; }, sync::deadline_after(first_takes));
    }
    runs.arrive();
  });
  runs.await(count);
  explore::check(pool.timers.figures().waiting == 0, "a series is not counted as waiting");
  explore::check(handle.cancel() && !handle.cancel(), "called off, once");
  pool.timers.close();
  explore::check(pool.timers.figures().cancelled == 0, "nor as cancelled");
  explore::check(pool.done >= count, "each run is a task");
  test::audit(pool.timers);
  return began;
}

// At multiples of the period; those that pass while one runs are left out, also if one is just now.
const SingleScenario fixed_rate("timers/fixed_rate", [] {
  const std::vector<std::chrono::nanoseconds> in_time{10ns, 20ns, 30ns};
  const std::vector<std::chrono::nanoseconds> late{10ns, 40ns, 50ns};
  const std::vector<std::chrono::nanoseconds> just_late{10ns, 30ns, 40ns};
  explore::check(moments(10ns, 4ns, 3) == in_time, "each");
  explore::check(moments(10ns, 25ns, 3) == late, "two are left out");
  explore::check(moments(10ns, 10ns, 3) == just_late, "one is left out");
});

// A period that the clock cannot count comes once at most.
const SingleScenario endless_period("timers/endless_period", [] {
  OneThread pool;
  test::Arrivals runs;
  TimerHandle handle(*add_timed(pool.timers, sync::clock::now(), TimedTask::Duration::max(), {},
                                [&runs] { runs.arrive(); }));
  runs.await(1);
  explore::check(handle.cancel_and_wait(), "it would come again, some time");
  explore::check(runs.count() == 1, "but did not");
  pool.close();
});

// What is called off from inside goes on to its end, and does not wait for itself.
const SingleScenario from_inside("timers/from_inside", [] {
  OneThread pool;
  test::Arrivals runs;
  sync::atomic<int> alive{0};
  test::OpenOnce both_there;
  TimerHandle once;
  TimerHandle series;
  once = TimerHandle(*add_timed(pool.timers, sync::clock::now(), 0ns, {}, [&] {
    both_there.wait();
    explore::check(!once.cancel_and_wait(), "it has begun");
    runs.arrive();
  }));
  series = TimerHandle(
      *add_timed(pool.timers, sync::clock::now(), 1h, {}, [&, counted = test::Counted(alive)] {
        both_there.wait();
        explore::check(series.cancel_and_wait() && !series.cancel(), "not once more");
        runs.arrive();
      }));
  both_there.open();
  runs.await(2);
  explore::check(!series.cancel_and_wait() && !once.cancel_and_wait(), "over");
  explore::check(alive.load(sync::order::acquire) == 0, "what it held is gone");
  pool.timers.close();
  explore::check(pool.done == 2 && runs.count() == 2, "once each");
  test::audit(pool.timers);
});

// The end of a run that is going on is waited for, and what it did is seen.
const Scenario waits_for_the_run("timers/waits_for_the_run", [] {
  OneThread pool;
  test::Arrivals begun;
  sync::cell<int> ran;
  TimerHandle handle = pool.add(1ns, 1ns, [&] {
    begun.arrive();
    sync::pause();
    ran.write() += 1;
  });
  begun.await(1);
  explore::check(handle.cancel_and_wait(), "not once more");
  explore::check(ran.read() >= 1 && ran.read() == begun.count(), "it is over");
  pool.close();
});

// Called off while it waits: at once, with what it holds, and the rest stays in order.
const SingleScenario called_off("timers/called_off", [] {
  OneThread pool;
  sync::atomic<int> alive{0};
  std::array<TimerHandle, 4> handles;
  const auto never = std::chrono::nanoseconds::max();
  for (TimerHandle& handle : handles) {
    handle = pool.add(never, 0ns, [counted = test::Counted(alive)] {});
  }
  TimerHandle series = pool.add(never, 1h, [counted = test::Counted(alive)] {});
  explore::check(alive.load(sync::order::relaxed) == 5, "all there");
  explore::check(handles[0].cancel() && !handles[0].cancel(), "once");
  explore::check(handles[2].cancel_and_wait() && !handles[2].cancel_and_wait(), "once");
  explore::check(series.cancel() && !series.cancel(), "once");
  explore::check(alive.load(sync::order::relaxed) == 2, "what they held is gone");
  const auto figures = pool.timers.figures();
  explore::check(figures.waiting + figures.cancelled == 4, "the series is not counted");
  test::audit(pool.timers);
  pool.timers.close();
  explore::check(alive.load(sync::order::relaxed) == 0, "all is gone");
  explore::check(!handles[1].cancel() && !handles[1].cancel_and_wait(), "the close did");
  explore::check(pool.timers.figures().waiting == 0, "none waits");
  test::audit(pool.timers);
});

// ---- What fails ---------------------------------------------------------------------------------

// A function that cannot be copied was never asked for.
const SingleScenario given_up("timers/given_up", [] {
  OneThread pool;
  const test::Fragile fragile;
  explore::check(test::throws<std::bad_alloc>([&] {
                   (void)add_timed(pool.timers, sync::deadline_after(1h), 0ns, {}, fragile);
                 }),
                 "told");
  test::audit(pool.timers);
  pool.timers.close();
  explore::check(pool.timers.figures().cancelled == 0, "nothing was");
  explore::check(add_timed(pool.timers, sync::clock::now(), 0ns, {}, fragile) == nullptr, "closed");
});

// No memory for its place at first, and by then nobody wants it any more.
struct Refuses {
  std::function<void()> meanwhile;
  int tries = 0;
  sync::ThreadId server = nullptr;  // the thread that serves all timers
  Timers& timers = *new Timers({this, &Refuses::hand_over, {}, {}});

  Refuses() = default;
  Refuses(const Refuses&) = delete;
  Refuses& operator=(const Refuses&) = delete;
  ~Refuses() { timers.release(); }

  static void hand_over(void* self, TimedTask& due) {
    auto& pool = *static_cast<Refuses*>(self);
    pool.server = sync::this_thread_id();
    if (++pool.tries == 2) return (void)Timers::run(due);
    pool.meanwhile();
    throw std::bad_alloc();
  }
};

struct EndsElsewhere {
  explicit EndsElsewhere(const Refuses& its_pool) : pool(&its_pool) {}
  EndsElsewhere(EndsElsewhere&& other) noexcept : pool(std::exchange(other.pool, nullptr)) {}
  ~EndsElsewhere() {
    if (pool == nullptr || pool->tries == 2) return;  // in the pool
    explore::check(sync::this_thread_id() != pool->server, "where it waits for nobody's moment");
  }
  const Refuses* pool;
};

// Its closure ends in the pool, or in the close: not on the thread that serves all others.
void refused_and_called_off(std::chrono::nanoseconds period) {
  Refuses pool;
  test::Arrivals tries;
  sync::atomic<int> alive{0};
  test::OpenOnce there;
  TimerHandle handle;
  pool.meanwhile = [&] {
    there.wait();
    explore::check(handle.cancel(), "it has not begun");
    tries.arrive();
  };
  handle =
      TimerHandle(*add_timed(pool.timers, sync::deadline_after(1h), period, {},
                             [counted = test::Counted(alive), elsewhere = EndsElsewhere(pool)] {}));
  there.open();
  tries.await(1);
  explore::check(!handle.cancel_and_wait(), "it is");
  pool.timers.close();
  explore::check(alive.load(sync::order::relaxed) == 0, "what it held is gone");
  const bool in_the_pool = pool.tries == 2;
  const unsigned in_the_close = period == 0ns && !in_the_pool ? 1 : 0;
  explore::check(pool.timers.figures().cancelled == in_the_close, "counted once");
  explore::check(pool.timers.figures().waiting == 0, "none is left");
  test::audit(pool.timers);
}

const Scenario refused_once("timers/refused_and_called_off", [] { refused_and_called_off(0ns); });
const Scenario refused_series("timers/refused_and_called_off_series",
                              [] { refused_and_called_off(1h); });

const SingleScenario refused_and_closed("timers/refused_and_closed", [] {
  Refuses pool;
  test::Arrivals tries;
  sync::atomic<int> alive{0};
  pool.meanwhile = [&] {
    tries.arrive();
    while (pool.timers.prepare()) {  // until it is closed
      pool.timers.give_up();
      sync::pause();
    }
  };
  {
    const TimerHandle gone(*add_timed(pool.timers, sync::deadline_after(1h), 0ns, {},
                                      [counted = test::Counted(alive)] {}));
  }
  tries.await(1);
  pool.timers.close();
  explore::check(alive.load(sync::order::relaxed) == 0, "what it held is gone");
  explore::check(tries.count() == 1, "nobody tries again");
  explore::check(pool.timers.figures().cancelled == 1, "counted");
  test::audit(pool.timers);
});

// ---- What the end of a closure may do -----------------------------------------------------------

// Calls off another one, and waits, when its closure ends.
struct Ends {
  explicit Ends(TimerHandle& its_handle) : handle(&its_handle) {}
  Ends(Ends&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Ends() {
    if (handle != nullptr) (void)handle->cancel_and_wait();
  }
  TimerHandle* handle;
};

// Each closure owns its own handle, or that of another: a close ends them one after the other.
const Scenario closures_end_timers("timers/closures_end_timers", [] {
  OneThread pool;
  test::OpenOnce all_there;
  std::array<TimerHandle, 3> handles;
  handles[0] = pool.add(1h, 0ns, [&, ends = Ends(handles[0])] { all_there.wait(); });
  handles[1] = pool.add(1h, 1h, [&, ends = Ends(handles[2])] { all_there.wait(); });
  handles[2] = pool.add(1h, 0ns, [&, ends = Ends(handles[2])] { all_there.wait(); });
  all_there.open();
  pool.timers.close();
  explore::check(!handles[0].cancel() && !handles[1].cancel() && !handles[2].cancel(), "all over");
  explore::check(pool.timers.figures().waiting == 0, "none waits");
  test::audit(pool.timers);
});

// ... also while it may run, or is called off by others.
const Scenario closure_owns_its_handle("timers/closure_owns_its_handle", [] {
  OneThread pool;
  test::OpenOnce there;
  TimerHandle handle;
  handle = pool.add(1ns, 0ns, [&, ends = Ends(handle)] { there.wait(); });
  there.open();
  explore::Thread other([&] { (void)handle.cancel_and_wait(); });
  pool.timers.close();
  other.join();
  explore::check(pool.timers.figures().waiting == 0, "none waits");
  test::audit(pool.timers);
  explore::outcome(static_cast<std::uint64_t>(pool.done));
});

// A closure that a close ends closes again.
const Scenario closure_closes("thread_pool/timers_closure_closes", [] {
  test::AuditedPool pool({.width = 1});
  struct Closer {
    explicit Closer(ThreadPool& its_pool) : pool(&its_pool) {}
    Closer(Closer&& other) noexcept : pool(std::exchange(other.pool, nullptr)) {}
    ~Closer() {
      if (pool != nullptr) explore::check(pool->close().balanced(), "closed from inside");
    }
    ThreadPool* pool;
  };
  (void)pool.post_at(sync::no_deadline, [closer = Closer(pool)] {});
  (void)pool.post_at(sync::no_deadline, [] {});
  explore::Thread other([&] { (void)pool.close(); });
  const Tally tally = pool.close();
  other.join();
  explore::check(tally.balanced() && tally.cancelled == 2 && tally.pending == 0, "both told");
});

// Closed while the function is being copied to its place: it is taken, and cancelled.
class Closes {
 public:
  explicit Closes(Timers& timers, sync::atomic<int>& alive) : timers_(timers), counted_(alive) {}
  Closes(const Closes& other) : timers_(other.timers_), counted_(other.counted_) {
    while (timers_.prepare()) {
      timers_.give_up();
      sync::pause();
    }
  }
  void operator()() const { explore::check(false, "it was closed before"); }

 private:
  Timers& timers_;
  test::Counted counted_;
};

void close_comes_between(std::chrono::nanoseconds period) {
  OneThread pool;
  sync::atomic<int> alive{0};
  const Closes closes(pool.timers, alive);
  explore::Thread other([&] {
    TimerHandle handle(*add_timed(pool.timers, sync::clock::now(), period, {}, closes));
    explore::check(alive.load(sync::order::relaxed) == 1, "gone at once");
    explore::check(!handle.cancel_and_wait(), "the close did");
  });
  while (alive.load(sync::order::relaxed) == 1) sync::pause();
  pool.timers.close();
  explore::check(pool.timers.figures().cancelled == (period == 0ns ? 1U : 0U), "counted by then");
  other.join();
  explore::check(pool.timers.figures().waiting == 0 && pool.done == 0, "nothing ran");
  test::audit(pool.timers);
}

const SingleScenario close_between("timers/close_comes_between", [] { close_comes_between(0ns); });
const SingleScenario close_between_series("timers/close_comes_between_series",
                                          [] { close_comes_between(1h); });

// A place that is refused is asked for again a moment later, not at once.
const SingleScenario tries_again("timers/tries_again", [] {
  OneThread pool;
  pool.misses = 1;
  test::Arrivals runs;
  const sync::Deadline begin = sync::deadline_after(1h);
  const TimerHandle handle(*add_timed(pool.timers, begin, 0ns, {}, [&] {
    explore::check(sync::clock::now() >= begin + 1ms, "not at once");
    runs.arrive();
  }));
  runs.await(1);
  pool.timers.close();
  explore::check(pool.done == 1 && pool.timers.figures().waiting == 0, "it came");
  test::audit(pool.timers);
});

using Delay = std::chrono::nanoseconds;

// What comes again has its new moment among the others, which are not late for it: `a` the task
// that comes again, `o` the other one.
void comes_in_order(OneThread& pool, Delay delay, Delay period, Delay other_delay,
                    const std::string& wanted) {
  test::Arrivals runs;
  std::string order;
  const int count = static_cast<int>(wanted.size());
  const auto come = [&](char what) {
    if (runs.count() == count) return;
    order += what;
    runs.arrive();
  };
  const sync::Deadline begin = sync::clock::now();
  const TimerHandle other = pool.add(other_delay, 0ns, [&come] { come('o'); });
  const TimerHandle again = pool.add(delay, period, [&come] { come('a'); });
  if (sync::clock::now() != begin) return pool.timers.close();  // time went by in between
  runs.await(count);
  pool.timers.close();
  explore::check(order == wanted, "in this order");
  test::audit(pool.timers);
}

const SingleScenario series_in_order("timers/series_in_order", [] {
  OneThread pool;
  comes_in_order(pool, 3h, 3h, 4h, "aoa");
});

const SingleScenario refused_in_order("timers/refused_in_order", [] {
  OneThread pool;
  pool.misses = 1;
  comes_in_order(pool, 1h, 0ns, 1h + 1us, "oa");
});

// The heap has room for all that were asked for: to take the 17th may fail, to wait may not.
const SizedScenario<Size::single, 1> many("timers/many", [] {
  OneThread pool;
  std::vector<TimerHandle> handles;
  handles.reserve(34);
  const auto add_with_failure = [&] {
    try {
      const explore::MayFail may_fail;
      handles.push_back(pool.add(1h, 0ns, [] {}));
    } catch (const std::bad_alloc&) {
    } catch (const std::system_error&) {
    }
  };
  add_with_failure();
  while (handles.size() < 16) handles.push_back(pool.add(1h, 0ns, [] {}));
  add_with_failure();
  while (handles.size() < 32) handles.push_back(pool.add(1h, 0ns, [] {}));
  add_with_failure();
  test::audit(pool.timers);
  pool.timers.close();
  explore::check(pool.timers.figures().cancelled == handles.size(), "each that was taken");
  test::audit(pool.timers);
});

// ---- The pool and all ---------------------------------------------------------------------------

// Called off while it is in the pool's queue: the worker ends it.
const SingleScenario called_off_when_due("thread_pool/called_off_when_due", [] {
  test::OpenOnce gate;
  test::HeldPool pool(gate);
  sync::atomic<int> alive{0};
  TimerHandle once = pool.post_at(sync::clock::now(), [counted = test::Counted(alive)] {
    explore::check(false, "called off");
  });
  while (pool.statistics().from_outside != 2) sync::pause();
  explore::check(pool.tally().pending == 2, "the worker's");
  explore::check(once.cancel() && !once.cancel(), "it has not begun");
  gate.open();
  pool.wait();
  explore::check(!once.cancel_and_wait() && alive.load(sync::order::relaxed) == 0, "it is gone");
  test::check_tally(pool.close(), 1, 0, 1);
});

// What waits for its moment is pending, but not waited for; the close cancels it, whatever kind.
const SingleScenario waits_for_its_moment("thread_pool/waits_for_its_moment", [] {
  test::AuditedPool pool({.width = 1});
  TimerHandle once = pool.post_at(sync::no_deadline, [] {});
  TimerHandle other = pool.post_at(sync::no_deadline, [] {});
  TimerHandle series = pool.post_every(std::chrono::nanoseconds::max(), [] {});
  const Tally now = pool.tally();
  explore::check(now.accepted == 2 && now.pending == 2 && now.balanced(), "but for the series");
  pool.wait();
  explore::check(once.cancel(), "not begun");
  explore::check(pool.tally().cancelled == 1, "told at once");
  test::check_tally(pool.close(), 0, 0, 2);
  explore::check(!other.cancel() && !series.cancel(), "the close did");
  explore::check(test::throws<NotRun>([&] { (void)pool.post_after(0s, [] {}); }), "closed");
  explore::check(test::throws<std::logic_error>([&] { (void)pool.post_every(0s, [] {}); }), "!");
});

// A series that throws goes on, and each run is a task.
const SingleScenario series_throws("thread_pool/series_throws", [] {
  test::AuditedPool pool({.width = 1});
  test::Arrivals runs;
  TimerHandle series = pool.post_every(1h, [&runs] {
    runs.arrive();
    throw test::Failure{runs.count()};
  });
  runs.await(2);
  (void)series.cancel_and_wait();
  const int first = test::thrown_by([&] { (void)test::wait_idly(pool); });
  explore::check(first == 1, "the first");
  const Tally tally = pool.close();
  explore::check(tally.failed == static_cast<std::uint64_t>(runs.count()), "each");
  explore::check(tally.done == 0 && tally.balanced(), "and no others");
});

// Dropped with the pool: the closure ends, the handle is told.
const SingleScenario dropped_when_due("thread_pool/dropped_when_due", [] {
  sync::atomic<int> alive{0};
  TimerHandle once;
  TimerHandle series;
  {
    test::AuditedPool pool({.width = 1});
    sync::atomic<bool> begun{false};
    test::OpenOnce due;
    pool.post([&] {
      begun.store(true, sync::order::release);
      due.wait();
      test::until_dropping(pool);
    });
    while (!begun.load(sync::order::acquire)) sync::pause();
    once = pool.post_at(sync::clock::now(),
                        [counted = test::Counted(alive)] { explore::check(false, "dropped"); });
    while (pool.statistics().from_outside != 2) sync::pause();
    series = pool.post_every(1h, [counted = test::Counted(alive)] {});
    due.open();
    const Tally tally = pool.close(Closing::abandon);
    explore::check(tally.cancelled >= 2 && tally.done + tally.cancelled == tally.accepted, "told");
    explore::check(alive.load(sync::order::relaxed) == 0, "what they held is gone");
  }
  explore::check(!once.cancel_and_wait() && !series.cancel_and_wait(), "over");
});

// The pool and all: a moment against the close, also where the task's queue is not there yet.
void later_than_close(const TaskOptions& options) {
  sync::cell<int> ran;
  test::AuditedPool pool({.width = 1});
  {
    const TimerHandle handle = pool.post_after(1ns, [&ran] { ++ran.write(); }, options);
  }
  const Tally tally = pool.close();
  explore::check(tally.balanced() && tally.accepted == 1, "accepted");
  explore::check(tally.done == static_cast<std::uint64_t>(ran.read()), "ran or cancelled");
  explore::check(tally.done + tally.cancelled == 1, "one end");
  explore::outcome(tally.done);
}
const Scenario later("thread_pool/later", [] { later_than_close({}); });
const Scenario later_high("thread_pool/later_high",
                          [] { later_than_close({.priority = Priority::high}); });

// ... and of the thread that asks for the timers first: it is refused, or closed with all.
const Scenario later_beside_close("thread_pool/later_beside_close", [] {
  test::AuditedPool pool({.width = 1});
  bool taken = false;
  explore::Thread other([&] {
    taken = !test::throws<NotRun>([&] { (void)pool.post_at(sync::no_deadline, [] {}); });
  });
  (void)pool.close();
  other.join();
  const Tally tally = pool.tally();
  explore::check(tally.balanced() && tally.pending == 0, "exact");
  explore::check(tally.cancelled == (taken ? 1U : 0U), "what was taken has an end");
  explore::outcome(tally.cancelled);
});

}}  // namespace timers_scenarios
