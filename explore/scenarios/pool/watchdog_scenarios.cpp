// SPDX-License-Identifier: MIT
//
// Circles of waits that a watchdog is told of, while the tasks in them come and go.
// docs/design/thread_pool.md.
#include <cstddef>
#include <handoff/core/future.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/pool/wait_cycle.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/pause.hpp>
#include <handoff/sync/stop_token.hpp>
#include <string>
#include <utility>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"

namespace watchdog_scenarios { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::accepted;
using test::OpenOnce;
using test::Scenario;
using test::Size;
using test::throws;

struct Circle {};

// Told of a circle: ends those waits in it that can be stopped, and throws.
class Watchdog {
 public:
  ThreadPoolOptions options(std::size_t width, std::size_t tasks) {
    ThreadPoolOptions given{.width = width};
    given.on_wait_cycle = [this, tasks](const WaitCycle& cycle) {
      explore::check(cycle.tasks.size() == tasks, "all who are in it");
      told_.fetch_add(1, sync::order::relaxed);
      (void)stop_.request_stop();
      throw Circle();
    };
    return given;
  }
  Status wait_for(const Future<void>& future) { return future.wait(stop_.token()); }
  int told() const { return told_.load(sync::order::relaxed); }

 private:
  sync::StopSource stop_;
  sync::atomic<int> told_{0};
};

// A task whose body knows its own future closes a circle of `tasks`. The watchdog is told once, and
// the task ends all the same.
template <class Body>
void told_once(std::size_t width, std::size_t tasks, Body body) {
  Watchdog watchdog;
  test::AuditedPool pool(watchdog.options(width, tasks));
  OpenOnce there;
  Future<void> future;
  future = pool.submit([&] {
    there.wait();
    body(pool, future, watchdog);
  });
  there.open();
  explore::check(test::wait_idly(pool) == Status::ok, "it ended");
  future.get();
  explore::check(watchdog.told() == 1, "once");
}

const Scenario waits_for_itself(
    "watchdog/waits_for_itself",
    [] {
      told_once(1, 1, [](ThreadPool&, Future<void>& future, Watchdog&) {
        explore::check(throws<Circle>([&future] { future.wait(); }), "thrown out of it");
      });
    },
    Size::single);

// The part that runs inside the task waits for it.
const Scenario part_waits_for_all(
    "watchdog/part_waits_for_all",
    [] {
      told_once(1, 1, [](ThreadPool& pool, Future<void>& future, Watchdog&) {
        TaskGroup group(pool);
        group.run([&future] { future.wait(); });
        explore::check(throws<Circle>([&group] { group.wait(); }), "the group's failure");
      });
    },
    Size::single);

// The same with the part elsewhere: it closes the circle, or the group's owner does.
const Scenario group_closes_circle(
    "watchdog/group_closes_circle",
    [] {
      told_once(2, 2, [](ThreadPool& pool, Future<void>& future, Watchdog& watchdog) {
        OpenOnce begun;
        TaskGroup group(pool);
        group.run([&] {
          begun.open();
          (void)watchdog.wait_for(future);  // is told, or is thrown out
        });
        begun.wait();
        explore::check(throws<Circle>([&group] { group.wait(); }), "when its part is over");
      });
    },
    Size::single);

// Its type is its name.
struct Named {
  Future<void>& future;
  OpenOnce& there;
  void operator()() const {
    there.wait();
    explore::check(throws<Circle>([this] { future.wait(); }), "thrown out of it");
  }
};

const Scenario names(
    "watchdog/names",
    [] {
      ThreadPoolOptions options{.width = 1};
      options.on_wait_cycle = [](const WaitCycle& cycle) {
        const std::string& name = cycle.tasks.at(0).name;
        explore::check(name.ends_with("::Named") && name.size() < 60, "as the compiler writes it");
        throw Circle();
      };
      test::AuditedPool pool(options);
      OpenOnce there;
      Future<void> future;
      future = pool.submit(Named{future, there});
      there.open();
      explore::check(test::wait_idly(pool) == Status::ok, "it ended");
    },
    Size::single);

// No circle: what is waited for goes on.
const Scenario no_circle(
    "watchdog/no_circle",
    [] {
      Watchdog watchdog;
      test::AuditedPool pool(watchdog.options(1, 0));
      int ran = 0;
      pool.submit([&] {
            TaskGroup group(pool);
            group.run([&ran] { ++ran; });
            explore::check(group.wait(Until()) == Status::ok, "it ran");
            pool.submit([&ran] { ++ran; }).then([&ran] { ++ran; }).get();
            TimerHandle handle = pool.post_at(sync::no_deadline, [] {});
            explore::check(handle.cancel_and_wait(), "nobody to wait for");
          })
          .get();
      explore::check(ran == 3 && watchdog.told() == 0, "nobody was told");
    },
    Size::single);

// What is waited for is looked at for the book first, and is run by the waiting thread all the
// same.
const Scenario runs_what_is_behind(
    "watchdog/runs_what_is_behind",
    [] {
      Watchdog watchdog;
      test::AuditedPool pool(watchdog.options(1, 0));
      OpenOnce there;
      Future<int> next;
      auto waiting = pool.submit([&] {
        there.wait();
        return next.get();
      });
      next = pool.submit([] { return 1; }).then([](int n) { return n + 1; });
      there.open();
      explore::check(waiting.get() == 2, "what follows");
      explore::check(pool.statistics().lent == 0, "nobody else is needed");
    },
    Size::single);

}}  // namespace watchdog_scenarios
